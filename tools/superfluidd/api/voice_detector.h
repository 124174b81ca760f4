#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_VOICE_DETECTOR_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_VOICE_DETECTOR_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace superfluid::daemon {

// Finds where speech begins and ends in 16-bit mono samples, by their level against that of the
// noise so far. A plain class; threads: one.
//
//   quiet --kOnsetMs of loud frames--> speaking --silence_ms of quiet frames--> quiet
class VoiceDetector {
 public:
  struct Options {
    uint32_t rate_hz = 24000;
    double threshold = 0.5;  // 0 hears everything, 1 shouts only
    int64_t silence_ms = 500;
  };
  static constexpr int64_t kFrameMs = 20;
  static constexpr int64_t kOnsetMs = 60;

  enum class Change { kNone, kStarted, kStopped };

  explicit VoiceDetector(const Options& options) : options_(options) {}

  size_t frame_bytes() const { return options_.rate_hz / 1000 * kFrameMs * sizeof(int16_t); }

  // Looks at the next frame. REQUIRES: it has frame_bytes().
  Change Feed(std::string_view frame);

  bool speaking() const { return speaking_; }
  // Returns how much audio was looked at.
  int64_t at_ms() const { return at_ms_; }

 private:
  bool IsLoud(double level_db);

  const Options options_;
  bool speaking_ = false;
  int64_t at_ms_ = 0;
  int64_t run_ms_ = 0;     // of frames that speak for a change
  double noise_db_ = -60;  // follows the quiet frames
};

// Returns 16-bit little-endian samples for G.711 bytes, u-law or A-law.
std::string DecodeMuLaw(std::string_view bytes);
std::string DecodeALaw(std::string_view bytes);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_VOICE_DETECTOR_H_
