#include "engine/whisper/audio_buffer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace superfluid {

AudioBuffer::AudioBuffer(std::unique_ptr<AudioSource> source) : source_(std::move(source)) {
  const std::optional<absl::Duration> total = source_->TotalDuration();
  if (total.has_value()) total_ms_ = std::max<int64_t>(absl::ToInt64Milliseconds(*total), 1);
}

AudioSource::State AudioBuffer::Read(size_t most) {
  const size_t had = samples_.size();
  samples_.resize(had + most);
  absl::StatusOr<AudioSource::Block> block = source_->Read(absl::MakeSpan(samples_).subspan(had));
  samples_.resize(had + (block.ok() ? std::min(block->frames, most) : 0));
  if (!block.ok()) error_ = block.status();
  over_ = !block.ok() || block->state == AudioSource::State::kEnd;
  return over_ ? AudioSource::State::kEnd : block->state;
}

absl::Span<const float> AudioBuffer::View(int64_t from, int64_t to) const {
  return absl::MakeConstSpan(samples_).subspan(static_cast<size_t>(from - begin_),
                                               static_cast<size_t>(to - from));
}

void AudioBuffer::DropBefore(int64_t position) {
  const int64_t dropped = std::clamp<int64_t>(position - begin_, 0, end() - begin_);
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(dropped));
  begin_ += dropped;
}

}  // namespace superfluid
