#include "tools/decode/frame_samples.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/samplefmt.h>
}

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace superfluid::decode {
namespace {

template <typename Sample>
float ToFloat(Sample sample) {
  if constexpr (std::is_floating_point_v<Sample>) {
    return static_cast<float>(sample);
  } else if constexpr (std::is_same_v<Sample, uint8_t>) {
    return static_cast<float>(static_cast<int>(sample) - 128) / 128.0F;
  } else {
    // The largest negative number is exactly -1.
    return static_cast<float>(static_cast<double>(sample) /
                              -static_cast<double>(std::numeric_limits<Sample>::min()));
  }
}

// REQUIRES: the frame's planes hold Samples.
template <typename Sample>
void Interleave(const AVFrame& frame, bool planar, std::vector<float>& samples) {
  const auto frames = static_cast<size_t>(frame.nb_samples);
  const auto channels = static_cast<size_t>(frame.ch_layout.nb_channels);
  for (size_t at = 0; at < frames; ++at) {
    for (size_t channel = 0; channel < channels; ++channel) {
      const uint8_t* plane = frame.extended_data[planar ? channel : 0];
      const size_t index = planar ? at : at * channels + channel;
      Sample sample = {};  // copied: nothing promises alignment
      std::memcpy(&sample, plane + index * sizeof(Sample), sizeof(Sample));
      samples[at * channels + channel] = ToFloat(sample);
    }
  }
}

}  // namespace

bool InterleaveFrame(const AVFrame& frame, std::vector<float>& samples) {
  const auto format = static_cast<AVSampleFormat>(frame.format);
  const bool planar = av_sample_fmt_is_planar(format) != 0;
  samples.resize(static_cast<size_t>(frame.nb_samples) *
                 static_cast<size_t>(frame.ch_layout.nb_channels));
  switch (av_get_packed_sample_fmt(format)) {
    case AV_SAMPLE_FMT_U8:
      Interleave<uint8_t>(frame, planar, samples);
      return true;
    case AV_SAMPLE_FMT_S16:
      Interleave<int16_t>(frame, planar, samples);
      return true;
    case AV_SAMPLE_FMT_S32:
      Interleave<int32_t>(frame, planar, samples);
      return true;
    case AV_SAMPLE_FMT_S64:
      Interleave<int64_t>(frame, planar, samples);
      return true;
    case AV_SAMPLE_FMT_FLT:
      Interleave<float>(frame, planar, samples);
      return true;
    case AV_SAMPLE_FMT_DBL:
      Interleave<double>(frame, planar, samples);
      return true;
    default:
      return false;
  }
}

}  // namespace superfluid::decode
