// A recording in memory, in any format that the worker reads: opened, and read to its end or its
// error, with a limit of ten seconds.

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/audio/audio_file.h"
#include "tests/fuzz/target.h"

namespace superfluid::fuzz {
namespace {

constexpr AudioLimits kLimits = {.max_duration = absl::Seconds(10)};
// Ten seconds, and what the resampler may have left.
constexpr size_t kMostFrames = size_t{11} * kEngineSampleRateHz;

void CheckError(const absl::Status& status) {
  Require(absl::IsInvalidArgument(status) && !status.message().empty());
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  const absl::Span<const std::byte> file(reinterpret_cast<const std::byte*>(bytes.data()),
                                         bytes.size());
  const auto source = OpenAudioMemory(file, nullptr, "fuzzed", kLimits);
  if (!source.ok()) return CheckError(source.status());
  Require(!(*source)->IsLive());
  std::array<float, 4096> samples;
  size_t frames = 0;
  while (true) {
    const auto block = (*source)->Read(absl::MakeSpan(samples));
    if (!block.ok()) {
      CheckError(block.status());
      Require((*source)->Read(absl::MakeSpan(samples)).status() == block.status());
      return;
    }
    Require(block->frames <= samples.size());
    Require(block->state != AudioSource::State::kStarved);
    for (size_t i = 0; i < block->frames; ++i) Require(std::isfinite(samples[i]));
    frames += block->frames;
    Require(frames <= kMostFrames);
    if (block->state == AudioSource::State::kEnd) return;
  }
}

}  // namespace superfluid::fuzz
