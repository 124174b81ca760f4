#ifndef SUPERFLUID_ACTORS_ENGINE_ACTOR_INTERFACE_H_
#define SUPERFLUID_ACTORS_ENGINE_ACTOR_INTERFACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "actors/caf_compat.h"
#include "actors/ids.h"
#include "actors/transcriber_interface.h"
#include "actors/type_ids.h"
#include "engine/audio/audio_source.h"
#include "engine/audio/live_audio.h"
#include "engine/engine.h"
#include "protocol/messages.h"
#include "shm/control.h"

namespace superfluid {

// Create the engine, on the engine's own thread. From Supervisor, first. Errors: what the factory
// said.
struct CreateEngine {};
struct EngineLoaded {
  EngineInfo info;
  std::string capabilities_json;
};

// The audio of one job on its way to the engine: taken once, by the engine's thread.
struct JobAudio {
  std::unique_ptr<AudioSource> source;
  std::unique_ptr<LiveAudio> live;  // the half that is pushed into; null for recordings
};

// Run this transcription when it is its turn. From a Transcriber; answered by any number of
// SegmentDecoded and exactly one TranscriptionEnded to `reply_to`.
struct QueueTranscription {
  RequestKey key;
  TranscriptionParams params;
  std::shared_ptr<JobAudio> audio;
  std::shared_ptr<CancelToken> token;
  int64_t deadline_ns = 0;    // monotonic; 0: none. Orders the queue; the Transcriber enforces it
  uint32_t control_slot = 0;  // index of the stop word + 1; 0: none
  uint32_t segment_credit = 0;
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

// The job's token was set: end it now rather than at its turn. Sent urgently, by anyone.
struct CancelJob {
  RequestKey key;
};

// One state call of linkw.md section 7, other than Transcribe. From Dispatcher.
struct RunStateCall {
  RequestKey key;
  std::shared_ptr<const linkw::StateSyncRequest> call;
};
struct StateCallDone {
  std::shared_ptr<const linkw::StateSyncResult> result;
};

// The stop words of this link's driver. From Dispatcher.
struct AttachControl {
  LinkId link{};
  std::shared_ptr<WorkerControl> control;
};

// End every job of the link (their tokens are set), drop its control segment and, if asked,
// everything cached. From Dispatcher at the end of a link, or from Supervisor if the Dispatcher
// died.
struct ReleaseLink {
  LinkId link{};
  bool reset_engine = false;
};
struct LinkReleased {};

// Take the next micro-step. To itself, and never more than one at a time in the mailbox: whatever
// else arrived meanwhile is handled before it.
struct RunMicroStep {};

// Offer the waiting jobs again to an engine that had no room. To itself.
struct RetryStart {};

// The only actor that touches the engine. See engine_actor.h.
using EngineActor =
    compat::Handle<caf::result<EngineLoaded>(CreateEngine), caf::result<void>(QueueTranscription),
                   caf::result<void>(GrantSegments), caf::result<void>(PushAudio),
                   caf::result<void>(CancelJob), caf::result<StateCallDone>(RunStateCall),
                   caf::result<void>(AttachControl), caf::result<LinkReleased>(ReleaseLink),
                   caf::result<void>(RunMicroStep), caf::result<void>(RetryStart)>;

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_ACTOR_INTERFACE_H_
