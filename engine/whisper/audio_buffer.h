#ifndef SUPERFLUID_ENGINE_WHISPER_AUDIO_BUFFER_H_
#define SUPERFLUID_ENGINE_WHISPER_AUDIO_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/audio/audio_source.h"

namespace superfluid {

// The part of a recording that was read and is still needed. Positions are in samples from the
// start of the audio.
//
// Threads: one at a time.
class AudioBuffer {
 public:
  explicit AudioBuffer(std::unique_ptr<AudioSource> source);

  // Reads up to `most` samples. Not to be called once over().
  AudioSource::State Read(size_t most);

  int64_t begin() const { return begin_; }
  int64_t end() const { return begin_ + static_cast<int64_t>(samples_.size()); }

  // Samples [from, to), both within [begin, end]. Valid until the next Read or DropBefore.
  absl::Span<const float> View(int64_t from, int64_t to) const;

  // Forgets what lies before `position`, which is at most end().
  void DropBefore(int64_t position);

  // The source has ended, or failed.
  bool over() const { return over_; }
  const absl::Status& error() const { return error_; }

  bool is_live() const { return source_->IsLive(); }
  int64_t total_ms() const { return total_ms_; }  // as the source claims; 0: not known

 private:
  std::unique_ptr<AudioSource> source_;
  int64_t total_ms_ = 0;
  std::vector<float> samples_;
  int64_t begin_ = 0;
  bool over_ = false;
  absl::Status error_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_AUDIO_BUFFER_H_
