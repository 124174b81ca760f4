#ifndef SUPERFLUID_ACTORS_MESSAGES_TRANSCRIBER_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_TRANSCRIBER_INTERFACE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "actors/messages/link_writer_interface.h"
#include "actors/messages/state_ops_interface.h"
#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"
#include "engine/cancel_token.h"
#include "engine/transcription.h"
#include "protocol/messages/messages.h"

namespace superfluid {

// Have the audio opened. To itself, first.
struct OpenAudio {};

struct JobAudio;  // engine_actor_interface.h

// The recording of the request was opened, or why it was not. From a thread that reads files.
struct AudioOpened {
  absl::Status status;
  std::shared_ptr<JobAudio> audio;
};

// The engine finished a segment, or a newer partial one. From EngineActor, at most as many as the
// transcriber granted.
struct SegmentDecoded {
  std::shared_ptr<const TranscribedSegment> segment;
  TranscriptionProgress progress;
};

// So much audio has been consumed; for a request with progress_ms. From EngineActor.
struct AudioConsumed {
  int64_t audio_ms = 0;
};

// What a transcription cost the engine.
struct TranscriptionCost {
  uint64_t steps = 0;
  int64_t engine_ns = 0;
  int64_t queue_ns = 0;             // from queued to the first step
  int64_t cancel_to_stop_ns = 0;    // from the cancel to the job's end; 0 if it was not cancelled
  uint64_t steps_after_cancel = 0;  // steps begun after the token was set: always 0
};

// The engine is done with the job and takes no further step for it. From EngineActor, exactly once
// for each QueueTranscription. `status`: OK, or why the job stopped early.
struct TranscriptionEnded {
  absl::Status status;
  std::string remark;  // with OK: what is to be said about the audio
  TranscriptionProgress progress;
  TranscriptionCost cost;
};

// Stop: the token is set, and EngineActor knows or will see it. From Dispatcher, or from
// EngineActor for a stop word (WatchStopWord); legal at any time, any number of times.
struct CancelTranscription {
  CancelReason reason = CancelReason::kRequested;
};

// The next piece of live audio. From Dispatcher. `credit` is the frame's: the link reads on when it
// is dropped, that is, when the engine has taken the audio.
struct LiveAudioReceived {
  std::shared_ptr<const linkw::TranscribeAudio> audio;
  std::shared_ptr<const void> credit;
};

// The buffer of the request, or of the live audio whose turn it is, is the BufferBound of
// state_ops: the Dispatcher asks StateOps to send it here, once for each message that names a
// buffer, in order.

// One transcription, from its request to its final answer. See transcriber.h.
using Transcriber =
    compat::Handle<caf::result<void>(OpenAudio), caf::result<void>(AudioOpened),
                   caf::result<void>(SegmentDecoded), caf::result<void>(AudioConsumed),
                   caf::result<void>(TranscriptionEnded), caf::result<void>(CancelTranscription),
                   caf::result<void>(LiveAudioReceived), caf::result<void>(BufferBound),
                   caf::result<void>(FrameWritten)>;

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_TRANSCRIBER_INTERFACE_H_
