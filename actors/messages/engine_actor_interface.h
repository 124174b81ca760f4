#ifndef SUPERFLUID_ACTORS_MESSAGES_ENGINE_ACTOR_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_ENGINE_ACTOR_INTERFACE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "actors/messages/dispatcher_interface.h"
#include "actors/messages/ids.h"
#include "actors/messages/imported_state.h"
#include "actors/messages/link_writer_interface.h"
#include "actors/messages/request_token.h"
#include "actors/messages/state_ops_interface.h"
#include "actors/messages/transcriber_interface.h"
#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"
#include "engine/audio/audio_source.h"
#include "engine/audio/live_audio.h"
#include "engine/engine.h"
#include "protocol/messages/messages.h"
#include "shm/control.h"
#include "shm/segment.h"

namespace superfluid {

class TickRings;  // actors/engine/tick_rings.h

// Create the engine, on the engine's own thread. From Supervisor, first. Errors: what the factory
// said.
struct CreateEngine {};
struct EngineLoaded {
  EngineInfo info;
  std::string capabilities_json;
  uint64_t context_tokens = 0;  // of a sequence at most; 0: the engine does not say
  bool generates = false;
  std::vector<StateSpace> spaces;
  std::vector<BuiltInStrategy> strategies;
};

// The audio of one job on its way to the engine: taken once, by the engine's thread.
struct JobAudio {
  std::unique_ptr<AudioSource> source;
  std::unique_ptr<LiveAudio> live;  // the half that is pushed into; null for recordings
  absl::Status error = {};          // that the source gave the engine; the engine's thread
};

// Run this transcription when it is its turn. From a Transcriber; answered by any number of
// SegmentDecoded and exactly one TranscriptionEnded to `reply_to`.
struct QueueTranscription {
  RequestKey key;
  TranscriptionParams params;
  std::shared_ptr<JobAudio> audio;
  std::shared_ptr<RequestToken> token;
  int64_t deadline_ns = 0;    // monotonic; 0: none. Orders the queue; the Dispatcher enforces it
  uint32_t control_slot = 0;  // index of the stop word + 1; 0: none
  uint32_t segment_credit = 0;
  uint32_t progress_ms = 0;  // of audio between two AudioConsumed; 0: none
  Transcriber reply_to;
};

// Look at the stop word of a transcription whose audio is being opened, until its
// QueueTranscription comes or its transcriber ends: answered by CancelTranscription, urgently, if
// the word is set. From its Transcriber.
struct WatchStopWord {
  RequestKey key;
  uint32_t control_slot = 0;  // index of the stop word + 1
  std::shared_ptr<RequestToken> token;
  Transcriber reply_to;
};

// `count` more segments may be sent. From the job's Transcriber.
struct GrantSegments {
  RequestKey key;
  uint32_t count = 0;
};

// More live audio, or its end. From the job's Transcriber.
struct PushAudio {
  RequestKey key;
  std::shared_ptr<const std::string> pcm;  // in the format of the request; may be null
  bool end_of_stream = false;
  std::shared_ptr<const void> credit;  // of the frame that brought it; see LiveAudioReceived
};

// The job's recording has more audio, after it was starved. From a thread that reads files.
struct AudioArrived {
  RequestKey key;
};

// The token of a job, tick, call or op was set: end it now rather than at its turn. With seq 0: the
// tokens of many of the link were. Sent urgently, by anyone.
struct CancelJob {
  RequestKey key;
};

// One request that is one call of the engine: a state call other than Transcribe, MATCH,
// SEED_ACQUIRE, SEED_RELEASE or STRATEGY_REGISTER. Answered to `dispatcher` by one CallDone when it
// was its turn, or CancelJob found its token set before that, or not at all once the link was
// released. From Dispatcher, which may have reserved its place before (ReserveCall).
struct RunCall {
  RequestKey key;
  Dispatcher dispatcher;
  std::shared_ptr<const linkw::DriverMessage> message;
  std::shared_ptr<const Segment> segment;  // the buffer that it names, if it names one
  // What the engine opens in place of the file that it names, or why there is none; nullopt: it
  // names none.
  std::optional<absl::StatusOr<std::string>> file;
  std::shared_ptr<const void> keep_alive;  // files that it names, or the credit of its frame
  std::shared_ptr<RequestToken> token;
};

// A tick. From Dispatcher; its emits and then its result go to `writer` from here, counted by
// `replies`, and RequestFinished to `dispatcher`.
struct QueueTick {
  RequestKey key;
  std::shared_ptr<const linkw::DriverMessage> message;  // a TickSubmit
  std::shared_ptr<RequestToken> token;
  int64_t received_ns = 0;  // monotonic
  int64_t deadline_ns = 0;  // monotonic; 0: none. It is not begun later; the Dispatcher stops it
  LinkWriter writer;
  Dispatcher dispatcher;
  std::shared_ptr<UnsentReplies> replies;
  std::shared_ptr<const void> credit;  // of the frame that brought it, if it was large
};

// What a call names is looked at elsewhere first, a buffer or files: what is sent after it and
// touches what it touches has to wait for its RunCall or DropOp. From Dispatcher.
struct ReserveCall {
  RequestKey key;
  std::shared_ptr<const linkw::DriverMessage> message;
};

// A state op is on its way through StateOps: what is sent after it and touches its sequence has to
// wait. From Dispatcher.
struct ReserveOp {
  RequestKey key;
  SequenceHandle sequence{};
};
// What was reserved was refused, or failed before the engine was needed. From StateOps, or from
// Dispatcher for a call.
struct DropOp {
  RequestKey key;
};
// Run it when it is its turn; answered by one OpEnded. From StateOps.
struct RunOp {
  RequestKey key;
  linkw::StateOp op;
  std::shared_ptr<const Segment> segment;       // of an export
  std::shared_ptr<const ImportedState> import;  // of an import
  std::shared_ptr<RequestToken> token;
  StateOps reply_to;
};
// Its StateOpDone is in the writer's hands: the next tick's result lists it. From StateOps.
struct OpReported {
  LinkId link{};
  linkw::StateOpDone done;
};

// All three rings of a link. From Dispatcher.
struct AttachRings {
  LinkId link{};
  std::shared_ptr<TickRings> rings;
};

// The stop words of this link's driver. From Dispatcher.
struct AttachControl {
  LinkId link{};
  std::shared_ptr<WorkerControl> control;
};

// End all work of the link (the tokens are set), drop what it made and attached and, if asked,
// everything cached. From Dispatcher at the end of a link, or from Supervisor if the Dispatcher
// died.
struct ReleaseLink {
  LinkId link{};
  bool reset_engine = false;
};
struct LinkReleased {};

// Look again at ops that had nothing to do. To itself.
struct PollOps {};

// Take the next micro-step. To itself, and never more than one at a time in the mailbox: whatever
// else arrived meanwhile is handled before it.
struct RunMicroStep {};

// Offer the waiting jobs again to an engine that had no room. To itself.
struct RetryStart {};

// Look at the stop words of transcriptions, which are not seen while nothing steps. To itself, for
// as long as there is a transcription that has one.
struct CheckStopWords {};

// The only actor that touches the engine. See engine_actor.h.
using EngineActor = compat::Handle<
    caf::result<EngineLoaded>(CreateEngine), caf::result<void>(QueueTranscription),
    caf::result<void>(WatchStopWord), caf::result<void>(GrantSegments),
    caf::result<void>(PushAudio), caf::result<void>(AudioArrived), caf::result<void>(CancelJob),
    caf::result<void>(RunCall), caf::result<void>(QueueTick), caf::result<void>(ReserveCall),
    caf::result<void>(ReserveOp), caf::result<void>(DropOp), caf::result<void>(RunOp),
    caf::result<void>(OpReported), caf::result<void>(AttachRings), caf::result<void>(PollOps),
    caf::result<void>(AttachControl), caf::result<LinkReleased>(ReleaseLink),
    caf::result<void>(RunMicroStep), caf::result<void>(RetryStart),
    caf::result<void>(CheckStopWords)>;

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_ENGINE_ACTOR_INTERFACE_H_
