#ifndef SUPERFLUID_ACTORS_STATE_OPS_STATE_OPS_H_
#define SUPERFLUID_ACTORS_STATE_OPS_STATE_OPS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "actors/engine/op_run.h"
#include "actors/messages/dispatcher_interface.h"
#include "actors/messages/engine_actor_interface.h"
#include "actors/messages/engine_progress.h"
#include "actors/messages/ids.h"
#include "actors/messages/limits.h"
#include "actors/messages/link_writer_interface.h"
#include "actors/messages/state_ops_interface.h"
#include "actors/state_ops/buffer_table.h"
#include "actors/state_ops/piece_runner.h"
#include "engine/audio/blocking_executor.h"
#include "engine/state_job.h"
#include "protocol/codec/state_envelope.h"

namespace superfluid {

struct StateOpsContext {
  LinkId link{};
  LinkWriter writer;
  Dispatcher dispatcher;
  EngineActor engine;
  std::shared_ptr<EngineProgress> progress;
  std::shared_ptr<UnsentReplies> replies;
  std::shared_ptr<const std::vector<StateSpace>> spaces;
  uint64_t context_tokens = 0;  // of a sequence at most; 0: not known
  BufferLimits buffers;
  std::shared_ptr<BlockingExecutor> readers;  // what copies and hashes state
  uint32_t op_window = kOpWindow;
};

// Owns the shared-memory buffers of one link (BufferTable has the rules) and its op window.
//
//   SubmitOp --> refused: StateOpAccepted says why
//           \--> accepted --(import: copied out and checked)--> EngineActor --OpEnded-->
//                                         (export: hashed and sealed) --> StateOpDone
//
// An op holds its buffer: a release that comes meanwhile frees the id at once, and the memory when
// the op lets go of it, just before its Done. What an import reads is copied into private memory
// first: the engine never sees bytes that the peer can still change, or that were not checked.
//
// Copying and hashing take seconds for a large state. Threads that may block do them, in bounded
// pieces, two of a link at a time and in turns, and look at the op's token in between: buffers are
// made, lent and released meanwhile, and a cancelled op lets go at once. A DEMOTE that the engine
// has done is sealed whatever its token says, since the buffer has the only copy.
//
// Pooled: mapping memory is not the business of the actors on the hot path.
class StateOpsState {
 public:
  static constexpr const char* name = "state-ops";

  explicit StateOpsState(StateOps::pointer self) : self_(self) {}
  StateOpsState(const StateOpsState&) = delete;
  StateOpsState& operator=(const StateOpsState&) = delete;
  ~StateOpsState();

  void Start(StateOpsContext context);
  void OnAllocate(const AllocateBuffer& allocate);
  void OnAttach(const AttachBuffer& attach);
  void OnRelease(const ReleaseBuffer& release) { buffers_->Release(release.id, release.only); }
  void OnBind(const BindBuffer& bind);
  void OnLend(const LendBuffer& lend);
  void OnSubmit(const SubmitOp& submit);
  void OnOpEnded(const OpEnded& ended);
  void OnImportCopied(const ImportCopied& copied);
  void OnExportHashed(const ExportHashed& hashed);

 private:
  struct OpenOp {
    linkw::OpHandle handle{};
    bool is_export = false;
    std::shared_ptr<const Segment> segment;
    uint64_t private_bytes = 0;             // copied for it
    RunOp run;                              // what the engine is told
    std::shared_ptr<ImportedState> import;  // of an import: the copy, until the engine has it
    OpEnded ended;                          // of an export: what it is sealed with
  };

  absl::StatusOr<std::shared_ptr<const Segment>> Allocate(linkw::BufId id, uint64_t bytes);
  absl::Status Attach(const AttachBuffer& attach);
  absl::Status Admit(const SubmitOp& submit, OpenOp& op, linkw::StateEnvelope& envelope) const;
  absl::StatusOr<linkw::StateEnvelope> CheckEnvelope(const linkw::StateOp& op,
                                                     const Segment& segment) const;
  absl::Status BeginCopy(uint64_t seq, OpenOp& op, const linkw::StateEnvelope& envelope);
  absl::Status Hash(uint64_t seq, const OpenOp& op);
  void SendRun(RunOp run);
  void Seal(const OpenOp& op, uint64_t payload_hash) const;
  const StateSpace* FindSpace(linkw::SpaceId id) const;
  void Finish(uint64_t seq, const absl::Status& status, uint64_t bytes_moved);
  // `last`: the op gets no other answer.
  void Send(uint64_t seq, linkw::WorkerMessage message);

  StateOps::pointer self_;
  StateOpsContext context_;
  std::optional<BufferTable> buffers_;
  std::shared_ptr<PieceRunner> pieces_;  // from Start on
  std::map<uint64_t, OpenOp> ops_;       // by the seq of their submit
};

StateOps::behavior_type StateOpsBehavior(StateOps::stateful_pointer<StateOpsState> self,
                                         StateOpsContext context);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_STATE_OPS_STATE_OPS_H_
