#ifndef SUPERFLUID_ACTORS_TRANSCRIPTION_TRANSCRIBER_H_
#define SUPERFLUID_ACTORS_TRANSCRIPTION_TRANSCRIBER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "actors/messages/dispatcher_interface.h"
#include "actors/messages/engine_actor_interface.h"
#include "actors/messages/ids.h"
#include "actors/messages/limits.h"
#include "actors/messages/link_writer_interface.h"
#include "actors/messages/request_token.h"
#include "actors/messages/state_ops_interface.h"
#include "actors/messages/transcriber_interface.h"
#include "actors/runtime/memory_budget.h"
#include "actors/transcription/transcript.h"
#include "engine/audio/audio_source.h"
#include "engine/audio/blocking_executor.h"
#include "protocol/messages/messages.h"

namespace superfluid {

// Whom a transcriber talks to, and what it may open.
struct TranscriberContext {
  RequestKey key;
  std::shared_ptr<RequestToken> token;
  std::shared_ptr<const OpenTranscriptionCount> open;  // until the answer
  Dispatcher dispatcher;
  LinkWriter writer;
  std::shared_ptr<UnsentReplies> replies;
  EngineActor engine;
  std::shared_ptr<BlockingExecutor> readers;   // of recordings
  std::shared_ptr<MemoryBudget> audio_copies;  // of live audio, on their way to the engine
  std::string media_root;                      // audio files lie below it
  uint32_t max_frame = linkw::kDefaultMaxFrame;
  uint32_t segment_credit = kSegmentCredit;  // segments decoded and not yet written to the socket
  int64_t deadline_ns = 0;  // monotonic; 0: none. The Dispatcher cancels when it passes
};

// One transcription, from its request to its final answer.
//
//   opening --QueueTranscription--> queued and running --TranscriptionEnded--> answered, the end
//      \____________ cannot be opened, or cancelled before that ________________/
//
// Exactly one final answer is sent, by this actor, after every segment. Once the engine has begun
// the job the answer waits for the engine's word that it stopped, so that "cancelled" means that
// the accelerator is free. A job that waits is answered when it is cancelled, whatever the engine
// is in; its end then waits for TranscriptionEnded. Credit: the engine pauses the job while
// `segment_credit` segments wait for a peer that does not read.
//
// Pooled; never blocks: recordings are opened and decoded by `readers`, and one that hangs there is
// left behind when its request ends.
class TranscriberState {
 public:
  static constexpr const char* name = "transcriber";

  explicit TranscriberState(Transcriber::pointer self) : self_(self) {}

  void Start(TranscriberContext context, std::shared_ptr<const linkw::StateSyncRequest> request);
  void OnOpenAudio();
  void OnAudioOpened(const AudioOpened& opened);
  void OnSegment(const SegmentDecoded& decoded);
  void OnEnded(const TranscriptionEnded& ended);
  void OnCancel(CancelReason reason);
  void OnLiveAudio(const LiveAudioReceived& received);
  void OnBufferBound(const BufferBound& bound);
  void OnAudioConsumed(int64_t audio_ms);
  void OnFrameWritten();

 private:
  // Stops the request of its own accord, and has the engine hear of it.
  void Cancel(CancelReason reason);
  void OpenRecording(std::function<absl::StatusOr<std::unique_ptr<AudioSource>>()> open);
  void OpenLive(const linkw::AudioLive& live);
  void Queue(std::shared_ptr<JobAudio> audio);
  void PumpLiveAudio();
  void PushFromBuffer(const linkw::BufferSpan& span, const BufferBound& bound);
  void Push(std::shared_ptr<const std::string> pcm);
  void Abandon(const absl::Status& status);
  void SendSegment(const TranscribedSegment& segment, const TranscriptionProgress& progress);
  void GrantOne();
  // Answers, if that was not done, and ends.
  void Finish(const absl::Status& status, const TranscriptionProgress& progress,
              const TranscriptionCost& cost);
  void Answer(const absl::Status& status, const TranscriptionProgress& progress,
              const TranscriptionCost& cost);
  void LogDone(const absl::Status& status, const TranscriptionProgress& progress,
               const TranscriptionCost& cost) const;
  // REQUIRES: the engine has no job of this request.
  void FinishUnqueued(const absl::Status& status);
  absl::Status CancelStatus() const;
  absl::Status EndStatus(const TranscriptionEnded& ended) const;

  Transcriber::pointer self_;
  TranscriberContext context_;
  std::shared_ptr<const linkw::StateSyncRequest> request_;
  const linkw::Transcribe* transcribe_ = nullptr;  // inside *request_
  Transcript transcript_;
  bool full_ = false;  // a segment had no room in the transcript; later ones are dropped
  std::deque<LiveAudioReceived> live_audio_;  // not yet passed on, in order
  std::deque<BufferBound> bound_;             // buffers of live audio, in order
  absl::Status abandoned_;                    // why the job was abandoned, if it was
  std::string remark_;                        // on the audio, for an answer that is OK
  bool opening_ = false;                      // the recording is being opened, or was
  bool queued_ = false;
  bool finished_ = false;
};

// `request` must hold a Transcribe call.
Transcriber::behavior_type TranscriberBehavior(
    Transcriber::stateful_pointer<TranscriberState> self, TranscriberContext context,
    std::shared_ptr<const linkw::StateSyncRequest> request);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_TRANSCRIPTION_TRANSCRIBER_H_
