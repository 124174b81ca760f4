#include "tools/superfluidd/api/voice_detector.h"

#include <algorithm>
#include <cmath>

namespace superfluid::daemon {
namespace {

constexpr double kSilenceDb = -100;
constexpr double kFullScale = 32768;
// The least level of speech: from -60 dB at threshold 0 to -20 dB at 1.
constexpr double kQuietestDb = -60;
constexpr double kRangeDb = 40;
constexpr double kAboveNoiseDb = 6;
constexpr double kNoiseRate = 0.05;  // how fast the noise is followed, a frame

int16_t SampleAt(std::string_view bytes, size_t index) {
  const auto low = static_cast<uint8_t>(bytes[2 * index]);
  const auto high = static_cast<uint8_t>(bytes[2 * index + 1]);
  return static_cast<int16_t>(static_cast<uint16_t>(low | (high << 8)));
}

double LevelDb(std::string_view frame) {
  const size_t samples = frame.size() / 2;
  double sum = 0;
  for (size_t i = 0; i < samples; ++i) {
    const double sample = SampleAt(frame, i) / kFullScale;
    sum += sample * sample;
  }
  const double power = sum / static_cast<double>(std::max<size_t>(samples, 1));
  return power > 0 ? std::max(10 * std::log10(power), kSilenceDb) : kSilenceDb;
}

void AppendSample(std::string& samples, int value) {
  samples.push_back(static_cast<char>(value & 0xFF));
  samples.push_back(static_cast<char>((value >> 8) & 0xFF));
}

// ITU-T G.711: sign, exponent and mantissa, all bits inverted.
int MuLawSample(uint8_t byte) {
  constexpr int kBias = 0x84;
  const int code = ~byte & 0xFF;
  const int magnitude = ((((code & 0x0F) << 3) + kBias) << ((code & 0x70) >> 4)) - kBias;
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

// The same with every other bit inverted; there is no bias in the lowest segment.
int ALawSample(uint8_t byte) {
  const int code = byte ^ 0x55;
  const int exponent = (code & 0x70) >> 4;
  int magnitude = ((code & 0x0F) << 4) + 8;
  if (exponent > 0) magnitude = (magnitude + 0x100) << (exponent - 1);
  return (code & 0x80) != 0 ? magnitude : -magnitude;
}

}  // namespace

VoiceDetector::Change VoiceDetector::Feed(std::string_view frame) {
  const bool loud = IsLoud(LevelDb(frame));
  at_ms_ += kFrameMs;
  run_ms_ = loud != speaking_ ? run_ms_ + kFrameMs : 0;
  if (run_ms_ < (speaking_ ? options_.silence_ms : kOnsetMs)) return Change::kNone;
  speaking_ = !speaking_;
  run_ms_ = 0;
  return speaking_ ? Change::kStarted : Change::kStopped;
}

bool VoiceDetector::IsLoud(double level_db) {
  const double least = kQuietestDb + kRangeDb * std::clamp(options_.threshold, 0.0, 1.0);
  const bool loud = level_db > std::max(least, noise_db_ + kAboveNoiseDb);
  // Loud frames of a steady noise count too, slowly: else it would be speech for ever.
  const double rate = loud ? kNoiseRate / 50 : kNoiseRate;
  noise_db_ += rate * (level_db - noise_db_);
  return loud;
}

std::string DecodeMuLaw(std::string_view bytes) {
  std::string samples;
  samples.reserve(bytes.size() * 2);
  for (const char c : bytes) AppendSample(samples, MuLawSample(static_cast<uint8_t>(c)));
  return samples;
}

std::string DecodeALaw(std::string_view bytes) {
  std::string samples;
  samples.reserve(bytes.size() * 2);
  for (const char c : bytes) AppendSample(samples, ALawSample(static_cast<uint8_t>(c)));
  return samples;
}

}  // namespace superfluid::daemon
