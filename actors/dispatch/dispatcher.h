#ifndef SUPERFLUID_ACTORS_DISPATCH_DISPATCHER_H_
#define SUPERFLUID_ACTORS_DISPATCH_DISPATCHER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "actors/dispatch/descriptor_table.h"
#include "actors/dispatch/held_frames.h"
#include "actors/dispatch/link_session.h"
#include "actors/dispatch/reply_credit.h"
#include "actors/dispatch/request_table.h"
#include "actors/link/admission.h"
#include "actors/link/read_credit.h"
#include "actors/messages/alarm_clock_interface.h"
#include "actors/messages/dispatcher_interface.h"
#include "actors/messages/drain_scope.h"
#include "actors/messages/engine_actor_interface.h"
#include "actors/messages/engine_progress.h"
#include "actors/messages/fd_receiver_interface.h"
#include "actors/messages/ids.h"
#include "actors/messages/limits.h"
#include "actors/messages/link_reader_interface.h"
#include "actors/messages/loaded_engine.h"
#include "actors/messages/state_ops_interface.h"
#include "actors/messages/supervisor_interface.h"
#include "actors/messages/transcriber_interface.h"
#include "actors/messages/worker_presence.h"
#include "actors/runtime/memory_budget.h"
#include "actors/state_ops/artifact_check.h"
#include "actors/state_ops/file_copy.h"
#include "engine/audio/blocking_executor.h"
#include "engine/cancel_token.h"
#include "protocol/frames/frame.h"
#include "protocol/messages/messages.h"
#include "protocol/transport/byte_stream.h"
#include "shm/ring.h"

namespace superfluid {

// Everything that a dispatcher is given.
struct DispatcherContext {
  LinkId id{};
  linkw::LinkToken token{};  // of the descriptor socket; zero if it was inherited
  std::shared_ptr<ByteStream> stream;
  std::function<void()> on_drive;          // called once when the link drives; may be null
  std::shared_ptr<FdChannel> descriptors;  // null: comes later or never
  EngineActor engine;
  Supervisor supervisor;
  AlarmClock alarms;
  std::shared_ptr<std::atomic<int64_t>> last_heard_ns;  // when the peer last sent a frame
  std::shared_ptr<EngineProgress> progress;
  std::shared_ptr<const WorkerPresence> presence;
  std::shared_ptr<const LoadedEngine> loaded;  // null: it still loads, and EngineReady comes
  std::string media_root;
  std::shared_ptr<BlockingExecutor> readers;  // of recordings, artifacts, adapters and media
  std::shared_ptr<MemoryBudget> file_copies;
  std::shared_ptr<MemoryBudget> audio_copies;
  std::string model_root;
  LinkLimits limits;
  bool inherited = false;  // the only link there will be: its HELLO may take its time
  bool reset_engine_at_end = false;
  compat::Placement placement = compat::Placement::kPooled;      // of dispatcher, reader and writer
  compat::Placement fds_placement = compat::Placement::kPooled;  // of what receives descriptors
};

// The hub of one link: handshake, versions, routing, the pairing of descriptors with the messages
// that name them, one entry per open request, deadlines, drain, and the orderly end.
//
//   awaiting HELLO --HELLO--> claiming its role --granted--> open --DRAIN--> draining
//                             (once the engine is loaded)
//         \______________________\________________ end ________/____________/
//                                                   |
//              tokens set, jobs ended, "LinkEnded" to the Supervisor, gone
//
// Requests take effect in the order sent. A message whose descriptor has not arrived holds back
// those behind it, for `descriptor_patience` from its own arrival at most; PING and cancels
// overtake.
//
// A PING is answered in every phase before the end, also behind a HELLO that waits for the engine.
//
// Spawns and ends the link's other actors (but for FdReceiver it is told when). Shares a hosted
// thread with all links, so that a PING is answered whatever engine and pool do.
class DispatcherState {
 public:
  static constexpr const char* name = "dispatcher";

  explicit DispatcherState(Dispatcher::pointer self) : self_(self) {}

  void Start(DispatcherContext context);
  void OnFrame(const FrameReceived& received);
  void OnFrameDecoded(const FrameDecoded& decoded);
  void OnReadingEnded(const absl::Status& status);
  void OnWritingFailed(const absl::Status& status);
  void OnDescriptor(const DescriptorReceived& received);
  void OnDescriptorsEnded();
  void OnChannel(const DescriptorChannelOpened& opened);
  void OnDescriptorOverdue();
  void OnDeadline();
  void OnRequestFinished(const RequestFinished& finished);
  void OnCallDone(const CallDone& done);
  void OnBufferAllocated(const BufferAllocated& allocated);
  void OnBufferAttached(const BufferAttached& attached);
  void OnBufferLent(const BufferLent& lent);
  void OnArtifactsChecked(const ArtifactsChecked& checked);
  void OnFileCopied(const FileCopied& copied);
  void OnHelloOverdue();
  void OnTelemetry();
  void OnRepliesWritten() { reply_credit_->OnWritten(); }
  void OnDrainLink(const DrainLink& drain);
  void OnDrainOverdue(uint64_t drain);
  void OnEndLink(const EndLink& end);
  void OnEngineReady(const EngineReady& ready);
  void OnDown(const caf::down_msg& down);

 private:
  using Credit = std::shared_ptr<const void>;

  // The link's alarms: one each.
  enum class Alarm : uint32_t { kHello, kDeadline, kDescriptor, kDrain, kTelemetry };
  // The frame being handled.
  struct Current {
    uint64_t seq = 0;
    linkw::MessageType type{};
    Credit credit;
    size_t payload_bytes = 0;
    int64_t since_ns = 0;  // when it arrived
    HeldCancel cancel = HeldCancel::kNone;

    // For what is kept until it is answered. The credit of small frames goes back at once, else
    // open requests would stop the reader, and with it their own cancels.
    Current Kept() const {
      return {.seq = seq,
              .type = type,
              .credit = payload_bytes > kSmallPayloadBytes ? credit : Credit(),
              .payload_bytes = payload_bytes};
    }
  };
  // What is noted of an open request, beside what the table knows.
  struct Work {
    Transcriber transcriber;    // of a transcription
    linkw::OpHandle op{};       // of an op
    bool takes_audio = false;   // a transcription of live audio
    Current frame;              // of a call: the frame that asked
    RunCall reserved;           // of a call that waits for its buffer or files: itself
    bool awaits_files = false;  // of a call
  };
  using Requests = RequestTable<Work>;
  enum class Outcome { kHandled, kHold };

  // dispatcher.cc: frames in, frames out, the end.
  void StartStateOps();
  HeldFrame Hold(const std::shared_ptr<const linkw::Frame>& frame);
  bool IsHandledAtOnce(linkw::MessageType type) const;
  Credit MakeCredit(const ReadCredit::Amount& amount);
  void HandleHeld();
  void HandleOvertaking();
  Outcome Handle(const HeldFrame& held);
  void AnswerHeld(const std::deque<HeldFrame>& cancelled);
  Outcome Route(const Current& current, linkw::DriverMessage message);
  void Reply(uint64_t correlation, linkw::WorkerMessage message);
  // Answers a request CANCELLED that a cancel reached while it was held back. Returns whether it
  // did.
  bool RefuseIfCancelled(const Current& current, RequestKind kind);
  void RefuseRequest(const Current& current, linkw::Status status, std::string text);
  // Answers a transcription for which nothing was done, with the TranscribeResult of that (STT-1).
  void RefuseTranscription(uint64_t seq, linkw::Status status, std::string text);
  // `request_seq`: of the message that was wrong; 0: bytes that are no message.
  void LinkError(const absl::Status& status, uint64_t request_seq);
  std::optional<uint64_t> RequestOf(const compat::Address& transcriber);
  void OnTranscriberDied(uint64_t seq, const caf::error& reason);
  bool IsPart(const compat::Address& actor) const;
  void End(std::optional<linkw::Error> last_word, std::string reason, uint64_t request_seq = 0);
  void ReportEnd();

  // dispatcher_session.cc: handshake, health, drain, deadlines.
  Outcome On(const Current& current, const linkw::Hello& hello);
  Outcome On(const Current& current, const linkw::Ping& ping);
  Outcome On(const Current& current, const linkw::DrainRequest& drain);
  Outcome On(const Current& current, const linkw::Telemetry& telemetry);
  void Claim();
  void Open(uint64_t hello_seq, uint16_t version);
  linkw::EngineState CurrentEngineState() const;
  void ShutWorkerDown(const Current& current, const linkw::DrainRequest& drain);
  void BeginDrain(uint64_t reply_to, DrainScope scope, absl::Duration patience);
  void FinishDrainIfIdle();
  void ArmDeadlineTimer();
  template <class Message>
  void SetAlarm(Alarm alarm, absl::Duration delay, Message message) {
    SetAlarmFor(self_, Dispatcher(self_), context_.alarms, static_cast<uint32_t>(alarm), delay,
                std::move(message));
  }

  // dispatcher_requests.cc: the work itself.
  Outcome On(const Current& current, linkw::StateSyncRequest request);
  Outcome On(const Current& current, const linkw::TranscribeCancel& cancel);
  Outcome On(const Current& current, linkw::TranscribeAudio audio);
  void StartTranscription(const Current& current, linkw::StateSyncRequest request);
  void CancelOpen(uint64_t seq, CancelReason reason);
  void CancelMany(const std::vector<uint64_t>& seqs, CancelReason reason);
  void CancelAllOpen(CancelReason reason);
  bool Stop(uint64_t seq, CancelReason reason);
  void CancelTranscriptions(CancelReason reason);
  void StopOutside(uint64_t seq, CancelReason reason);
  void AnswerWaitingTick(uint64_t seq, CancelReason reason);

  // dispatcher_generation.cc: ticks, state ops, and what is one call of the engine.
  Outcome On(const Current& current, linkw::TickSubmit tick);
  Outcome On(const Current& current, linkw::MatchRequest match);
  Outcome On(const Current& current, linkw::SeedAcquire acquire);
  Outcome On(const Current& current, linkw::SeedRelease release);
  Outcome On(const Current& current, const linkw::StateOpSubmit& submit);
  Outcome On(const Current& current, const linkw::OpCancel& cancel);
  Outcome On(const Current& current, linkw::StrategyRegister strategy);
  bool MayGenerate(const Current& current, bool needs_rings);
  void CallEngine(const Current& current, linkw::DriverMessage message);
  RunCall CallOf(const Current& current, linkw::DriverMessage message);
  void CallWithBuffer(linkw::BufId buffer, const RunCall& call);
  void CallWithFiles(const Current& current, const RunCall& call, const absl::Status& begun);
  absl::Status BeginFileCopy(const RunCall& call);
  absl::Status BeginArtifactCheck(const RunCall& call);
  void SendCall(RunCall call);
  void FailCall(uint64_t seq, linkw::Status status, std::string text);
  // Ends a call whose place was reserved and which the engine will not see.
  void FailReserved(uint64_t seq, linkw::Status status, std::string text);

  // dispatcher_memory.cc: descriptors, rings, buffers, large frames.
  // Has a large frame decoded elsewhere. Returns false if it is to be handled as it is.
  bool AwaitsDecoding(HeldFrame& held);
  Outcome On(const Current& current, const linkw::RingAttach& attach);
  Outcome On(const Current& current, const linkw::ControlAttach& attach);
  Outcome On(const Current& current, const linkw::BufAlloc& alloc);
  Outcome On(const Current& current, const linkw::BufAttach& attach);
  Outcome On(const Current& current, const linkw::BufRelease& release);
  // The descriptor, or nullopt after it was arranged to wait for it (kHold) or given up (refused).
  std::optional<OwnedFd> Claim(const Current& current, uint64_t tag, Outcome& otherwise);
  absl::Status PassOn(const BufferAllocated& allocated);
  void StartFdReceiver(std::shared_ptr<FdChannel> channel);
  int64_t DescriptorDueNs(int64_t since_ns) const;
  bool HasRoomForDescriptors() const;
  void MakeRoomForAwaited();
  void ArmDescriptorTimer();
  void PassOnRings();

  Dispatcher::pointer self_;
  DispatcherContext context_;
  LinkReader reader_;
  std::shared_ptr<ReadCredit> read_credit_;
  LinkWriter writer_;
  FdReceiver fd_receiver_;
  StateOps state_ops_;  // null until the engine is loaded
  std::shared_ptr<FdChannel> channel_;

  LinkSession session_;
  std::string client_name_;
  uint64_t hello_seq_ = 0;  // of the HELLO that was accepted; 0: none has
  uint16_t version_ = 0;    // that it chose
  HeldFrames held_;
  bool handling_held_ = false;
  std::optional<Requests> requests_;  // from Start on
  std::shared_ptr<UnsentReplies> replies_;
  std::optional<ReplyCredit> reply_credit_;           // from Start on
  std::map<compat::Address, uint64_t> transcribers_;  // of open requests
  uint64_t last_op_ = 0;

  std::optional<DescriptorTable> descriptors_;
  bool descriptors_ended_ = false;
  int64_t descriptor_alarm_ns_ = 0;    // when it rings; 0: it is not set
  std::map<uint32_t, Segment> rings_;  // until all three are there
  bool rings_attached_ = false;
  bool wants_telemetry_ = false;

  std::optional<DrainLink> pending_drain_;  // came while the driver's role was being decided
  LinkDrain::Counts drained_;               // what the worker's shut-down came to on this link
  std::string end_reason_;
};

Dispatcher::behavior_type DispatcherBehavior(Dispatcher::stateful_pointer<DispatcherState> self,
                                             DispatcherContext context);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_DISPATCHER_H_
