#ifndef SUPERFLUID_PROTOCOL_MESSAGES_TRANSCRIBE_MESSAGES_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_TRANSCRIBE_MESSAGES_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "protocol/messages/ids.h"
#include "protocol/messages/memory_messages.h"

// Speech to text. Transcribe is one of the state sync calls; its final answer is the
// StateSyncResult that carries a TranscribeResult. All times count from the first sample of the
// audio.
namespace superfluid::linkw {

enum class SampleFormat : uint8_t { kS16 = 1, kF32 = 2 };  // little-endian, interleaved

struct PcmFormat {
  uint32_t sample_rate_hz = 0;
  uint32_t channels = 0;
  SampleFormat sample_format = SampleFormat::kS16;
  bool operator==(const PcmFormat&) const = default;
};

// A regular file that the worker opens: absolute, or relative to the worker's media root (never to
// the working folder of either side). It must lie below the media root.
struct AudioPath {
  std::string path;  // any bytes but NUL
  bool operator==(const AudioPath&) const = default;
};

struct EncodedFile {  // wav, flac, ogg, mp3 ...: the bytes say which
  bool operator==(const EncodedFile&) const = default;
};

// Bytes of an attached buffer.
struct AudioBuffer {
  BufId buf_id{};
  uint64_t offset = 0;
  uint64_t length = 0;
  std::variant<EncodedFile, PcmFormat> format;
  bool operator==(const AudioBuffer&) const = default;
};

// Audio that follows in TranscribeAudio messages.
struct AudioLive {
  PcmFormat format;
  bool operator==(const AudioLive&) const = default;
};

using AudioSourceSpec = std::variant<AudioPath, AudioBuffer, AudioLive>;

struct Transcribe {
  AudioSourceSpec audio;
  std::string language;  // UTF-8; empty: the engine detects or assumes one
  bool translate = false;
  bool timestamps = true;
  std::string prompt;            // UTF-8
  bool stream = false;           // send TranscribeSegment messages as they are decoded
  bool partial_results = false;  // also segments that may still change
  uint32_t deadline_ms = 0;      // from receipt; 0: none
  uint32_t control_slot = 0;     // 1-based stop word in the control segment; 0: none
  uint32_t progress_ms = 0;      // a TranscribeProgress for so much audio at the latest; 0: none
  std::string label;             // UTF-8: what the request is called in the worker's log
  bool operator==(const Transcribe&) const = default;
};

struct TranscriptWord {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::string text;
  float probability = 0;
  bool operator==(const TranscriptWord&) const = default;
};

struct TranscriptSegment {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::string text;
  float avg_logprob = 0;
  float no_speech_prob = 0;
  float compression_ratio = 0;
  float temperature = 0;
  std::vector<TranscriptWord> words;
  bool operator==(const TranscriptSegment&) const = default;
};

struct TranscribeStats {
  uint64_t engine_steps = 0;
  uint64_t engine_us = 0;
  uint64_t queue_us = 0;            // from receipt to the first step
  uint64_t cancel_to_stop_us = 0;   // from the cancel's receipt to the end of the last step
  uint64_t steps_after_cancel = 0;  // steps that began after the cancel; 0 is the promise
  uint64_t audio_total_ms = 0;      // 0: not known
  bool operator==(const TranscribeStats&) const = default;
};

// With kCancelled and kDeadlineExceeded: what was decoded until then.
struct TranscribeResult {
  std::string text;
  std::string language;
  int64_t duration_ms = 0;  // audio consumed
  std::vector<TranscriptSegment> segments;
  TranscribeStats stats;
  bool operator==(const TranscribeResult&) const = default;
};

// One decoded stretch of speech; correlation = seq of the Transcribe request.
struct TranscribeSegment : TranscriptSegment {
  uint32_t index = 0;          // of the final segments: 0, 1, 2 ...; a partial has the next index
  bool is_partial = false;     // replaced by the next segment of the same index
  int64_t audio_ms = 0;        // audio consumed so far
  int64_t audio_total_ms = 0;  // 0: not known
  bool operator==(const TranscribeSegment&) const = default;
};

// Droppable: a later one says more.
struct TranscribeProgress {
  int64_t audio_ms = 0;  // audio consumed so far
  bool operator==(const TranscribeProgress&) const = default;
};

// Idempotent; the request still gets exactly one StateSyncResult.
struct TranscribeCancel {
  uint64_t request_seq = 0;  // 0: all of this link
  bool operator==(const TranscribeCancel&) const = default;
};

struct TranscribeAudio {
  uint64_t request_seq = 0;
  std::variant<std::string, BufferSpan> data;  // PCM as announced by AudioLive
  bool end_of_stream = false;
  bool operator==(const TranscribeAudio&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_TRANSCRIBE_MESSAGES_H_
