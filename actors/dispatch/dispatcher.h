#ifndef SUPERFLUID_ACTORS_DISPATCH_DISPATCHER_H_
#define SUPERFLUID_ACTORS_DISPATCH_DISPATCHER_H_

#include <atomic>
#include <cstdint>
#include <deque>
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
#include "actors/dispatch/deadlines.h"
#include "actors/dispatch/descriptor_table.h"
#include "actors/link/admission.h"
#include "actors/messages/alarm_clock_interface.h"
#include "actors/messages/dispatcher_interface.h"
#include "actors/messages/drain_scope.h"
#include "actors/messages/engine_actor_interface.h"
#include "actors/messages/engine_progress.h"
#include "actors/messages/fd_receiver_interface.h"
#include "actors/messages/ids.h"
#include "actors/messages/link_reader_interface.h"
#include "actors/messages/request_token.h"
#include "actors/messages/state_ops_interface.h"
#include "actors/messages/supervisor_interface.h"
#include "actors/messages/transcriber_interface.h"
#include "actors/runtime/thread_room.h"
#include "actors/state_ops/artifact_check.h"
#include "engine/audio/blocking_executor.h"
#include "engine/cancel_token.h"
#include "protocol/frames/frame.h"
#include "protocol/messages/messages.h"
#include "protocol/transport/byte_stream.h"
#include "shm/ring.h"

namespace superfluid {

// What one link may use, from the command line of the worker.
struct LinkLimits {
  uint32_t max_frame = linkw::kDefaultMaxFrame;
  uint32_t op_window = 16;
  uint32_t max_open_requests = 1024;            // further ones are answered BUSY
  uint32_t max_transcriptions = 256;            // open on the link, waiting ones included
  uint32_t max_releases = 1024;                 // with the engine; then they hold frame credit
  uint32_t descriptor_credit = 256;             // descriptors received and not claimed
  uint32_t unsent_replies = 64;                 // beyond this the link's requests are not read
  uint64_t unsent_bytes = uint64_t{512} << 20;  // waiting for the socket; beyond this the link ends
  absl::Duration hello_patience = absl::Seconds(5);       // for a HELLO that is accepted
  absl::Duration descriptor_patience = absl::Seconds(5);  // for a descriptor that a message names
  absl::Duration engine_patience = absl::Minutes(10);     // for the engine to let go of a link
  absl::Duration telemetry_period = absl::Seconds(1);     // for a peer that wants telemetry
};

// Everything that a dispatcher is given.
struct DispatcherContext {
  LinkId id{};
  linkw::LinkToken token{};  // of the descriptor socket; zero if it was inherited
  std::shared_ptr<ByteStream> stream;
  std::shared_ptr<FdChannel> descriptors;  // null: comes later or never
  EngineActor engine;
  Supervisor supervisor;
  AlarmClock alarms;
  ThreadRoom thread_room;
  std::shared_ptr<std::atomic<int64_t>> last_heard_ns;  // when the peer last sent a frame
  std::shared_ptr<EngineProgress> progress;
  std::shared_ptr<const linkw::HelloAck> hello;  // filled in but for version and token
  EngineInfo engine_info;
  bool engine_generates = false;
  uint64_t context_tokens = 0;  // of a sequence at most; 0: not known
  std::shared_ptr<const std::vector<StateSpace>> spaces;
  std::string media_root;
  std::shared_ptr<BlockingExecutor> readers;  // of recordings
  std::string model_root;
  LinkLimits limits;
  absl::Duration engine_stall;  // a step longer than this is reported as a stall
  bool inherited = false;       // the only link there will be: its HELLO may take its time
  bool reset_engine_at_end = false;
  compat::Placement placement = compat::Placement::kDetached;
};

// The hub of one link: handshake, versions, routing, the pairing of descriptors with the messages
// that name them, one entry per open request, deadlines, drain, and the orderly end.
//
//   awaiting HELLO --HELLO--> claiming its role --granted--> open --DRAIN--> draining
//         \______________________\________________ end ________/____________/
//                                                   |
//              tokens set, jobs ended, "LinkEnded" to the Supervisor, gone
//
// Requests take effect in the order sent. A message whose descriptor has not arrived holds back
// those behind it, for `descriptor_patience` from its own arrival at most; PING and cancels
// overtake.
//
// Spawns and ends the link's other actors (but for FdReceiver it is told when). On a thread of its
// own, so that a PING is answered whatever the pool does.
class DispatcherState {
 public:
  static constexpr const char* name = "dispatcher";

  explicit DispatcherState(Dispatcher::pointer self) : self_(self) {}

  void Start(DispatcherContext context);
  void OnFrame(const FrameReceived& received);
  void OnReadingEnded(const absl::Status& status);
  void OnWritingFailed(const absl::Status& status);
  void OnDescriptor(const DescriptorReceived& received);
  void OnDescriptorsEnded();
  void OnChannel(const DescriptorChannelOpened& opened);
  void OnDescriptorOverdue();
  void OnDeadline();
  void OnAnswerFollows(const AnswerFollows& follows);
  void OnRequestFinished(const RequestFinished& finished);
  void OnCallDone(const CallDone& done);
  void OnBufferAllocated(const BufferAllocated& allocated);
  void OnBufferAttached(const BufferAttached& attached);
  void OnBufferLent(const BufferLent& lent);
  void OnArtifactsChecked(const ArtifactsChecked& checked);
  void OnHelloOverdue();
  void OnTelemetry();
  void OnFrameWritten();
  void OnDrainLink(const DrainLink& drain);
  void OnDrainOverdue(uint64_t drain);
  void OnEndLink(const EndLink& end);
  void OnDown(const caf::down_msg& down);

 private:
  using Frame = std::shared_ptr<const linkw::Frame>;
  using Credit = std::shared_ptr<const void>;

  // A frame that waits for its turn, with the credit that it holds.
  struct HeldFrame {
    Frame frame;
    Credit credit;
    int64_t since_ns = 0;    // when it arrived
    bool cancelled = false;  // a transcription: answered CANCELLED when its turn comes
  };
  // The link's alarms: one each.
  enum class Alarm : uint32_t { kHello, kDeadline, kDescriptor, kDrain, kTelemetry };
  // The frame being handled.
  struct Current {
    uint64_t seq = 0;
    linkw::MessageType type{};
    Credit credit;
    size_t payload_bytes = 0;
    int64_t since_ns = 0;    // when it arrived
    bool cancelled = false;  // while it was held back

    static constexpr size_t kSmallBytes = size_t{64} << 10;

    // For what is kept until it is answered. The credit of small frames goes back at once, else
    // open requests would stop the reader, and with it their own cancels.
    Current Kept() const {
      return {.seq = seq,
              .type = type,
              .credit = payload_bytes > kSmallBytes ? credit : Credit(),
              .payload_bytes = payload_bytes};
    }
  };
  enum class RequestKind { kCall, kTranscription, kTick, kOp, kRelease };
  // A request that has not been answered for good.
  struct OpenRequest {
    RequestKind kind = RequestKind::kCall;
    std::shared_ptr<RequestToken> token;  // null: a release, which is carried out in any case
    Transcriber transcriber;              // of a transcription
    linkw::OpHandle op{};                 // of an op
    bool takes_audio = false;             // a transcription of live audio
    bool answered = false;                // it counts against no limit any more
    Current frame;                        // of a call: the frame that asked
    RunCall reserved;                     // of a call that waits for its buffer or files: itself
    bool awaits_artifacts = false;        // of a call
  };
  enum class Outcome { kHandled, kHold };

  // dispatcher.cc: frames in, frames out, the end.
  Credit MakeCredit(const linkw::Frame& frame);
  void HandleHeld();
  void HandleOvertaking();
  Outcome Handle(const HeldFrame& held);
  Outcome Route(const Current& current, linkw::DriverMessage message);
  void Reply(uint64_t correlation, linkw::WorkerMessage message);
  void RefuseRequest(const Current& current, linkw::Status status, std::string text);
  // `request_seq`: of the message that was wrong; 0: bytes that are no message.
  void LinkError(const absl::Status& status, uint64_t request_seq);
  bool IsPart(const compat::Address& actor) const;
  void End(std::optional<linkw::Error> last_word, std::string reason, uint64_t request_seq = 0);
  void ReportEnd();

  // dispatcher_session.cc: handshake, health, drain, deadlines.
  Outcome On(const Current& current, const linkw::Hello& hello);
  Outcome On(const Current& current, const linkw::Ping& ping);
  Outcome On(const Current& current, const linkw::DrainRequest& drain);
  Outcome On(const Current& current, const linkw::Telemetry& telemetry);
  void Open(uint64_t hello_seq, uint16_t version);
  linkw::EngineState CurrentEngineState() const;
  void ShutWorkerDown(const Current& current, const linkw::DrainRequest& drain);
  void BeginDrain(uint64_t reply_to, DrainScope scope, absl::Duration patience);
  void CancelNow(DrainScope scope);
  void FinishDrainIfIdle();
  void ArmDeadlineTimer();
  template <class Message>
  void SetAlarm(Alarm alarm, absl::Duration delay, Message message) {
    SetAlarmFor(self_, Dispatcher(self_), context_.alarms, static_cast<uint32_t>(alarm), delay,
                std::move(message));
  }

  // dispatcher_work.cc: the work itself.
  Outcome On(const Current& current, linkw::StateSyncRequest request);
  Outcome On(const Current& current, const linkw::TranscribeCancel& cancel);
  Outcome On(const Current& current, linkw::TranscribeAudio audio);
  void StartTranscription(const Current& current, linkw::StateSyncRequest request);
  void CancelOpen(uint64_t seq, CancelReason reason);
  void CancelAllOpen(CancelReason reason);
  void CancelTranscriptions(CancelReason reason);
  void CancelHeld(uint64_t seq);
  void AnswerWaitingTick(uint64_t seq, CancelReason reason);
  bool HasRoomForRequest() const;
  size_t Unanswered() const;
  size_t UnansweredOf(RequestKind kind) const;

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
  bool StartArtifactChecker();
  void SendCall(RunCall call);
  void FailCall(uint64_t seq, linkw::Status status, std::string text);
  // Ends a call whose place was reserved and which the engine will not see.
  void FailReserved(uint64_t seq, linkw::Status status, std::string text);
  void FailArtifactChecks(const std::string& text);

  // dispatcher_memory.cc: descriptors, rings, buffers.
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
  std::multiset<uint64_t> NamedTags() const;
  void MakeRoomForAwaited();
  void ArmDescriptorTimer();
  void PassOnRings();

  Dispatcher::pointer self_;
  DispatcherContext context_;
  LinkReader reader_;
  LinkWriter writer_;
  FdReceiver fd_receiver_;
  StateOps state_ops_;
  ArtifactChecker artifact_checker_;  // null until it is needed
  std::shared_ptr<FdChannel> channel_;

  LinkPhase phase_ = LinkPhase::kAwaitingHello;
  linkw::Role role_ = linkw::Role::kObserver;
  bool drove_ = false;  // the role was granted: the engine may hold something of this link
  std::string client_name_;

  std::deque<HeldFrame> held_;
  bool handling_held_ = false;
  std::map<uint64_t, OpenRequest> open_;
  size_t answered_ = 0;  // of open_
  size_t releases_ = 0;  // SEED_RELEASEs of open_
  uint64_t last_op_ = 0;
  Deadlines deadlines_;

  // Handed to LinkWriter and not written. An actor that answers for itself says so after its answer
  // may already have been written: briefly below zero.
  int64_t unsent_replies_ = 0;
  std::vector<Credit> withheld_credit_;  // given back when the peer reads again

  std::optional<DescriptorTable> descriptors_;
  int64_t awaited_since_ns_ = 0;
  int64_t awaited_until_ns_ = 0;  // the first held frame waits for a descriptor until then; 0: no
  bool descriptors_ended_ = false;
  int64_t open_since_ns_ = 0;
  int64_t descriptor_alarm_ns_ = 0;    // when it rings; 0: it is not set
  std::map<uint32_t, Segment> rings_;  // until all three are there
  bool rings_attached_ = false;
  bool wants_telemetry_ = false;

  struct Drain {
    uint64_t number = 0;
    uint64_t reply_to = 0;  // seq of the DRAIN; 0: the Supervisor's
    uint32_t finished_elsewhere = 0;
    uint32_t cancelled_elsewhere = 0;
    size_t open_at_start = 0;
    size_t cancelled = 0;
    int64_t until_ns = std::numeric_limits<int64_t>::max();
    bool waits_for_others = false;  // other links drain first, then the Supervisor says so
  };
  std::optional<Drain> drain_;
  uint64_t drains_ = 0;
  std::optional<DrainLink> pending_drain_;  // came while the driver's role was being decided
  bool ends_after_drain_ = false;
  linkw::Drained drained_;  // what the last drain came to, on this link alone
  std::string end_reason_;
};

Dispatcher::behavior_type DispatcherBehavior(Dispatcher::stateful_pointer<DispatcherState> self,
                                             DispatcherContext context);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_DISPATCHER_H_
