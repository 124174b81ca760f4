#ifndef SUPERFLUID_TOOLS_DECODE_DECODE_SUMMARY_H_
#define SUPERFLUID_TOOLS_DECODE_DECODE_SUMMARY_H_

#include <cstdint>
#include <string>

namespace superfluid::decode {

// What came of a recording that was decoded to its end.
struct DecodeSummary {
  std::string container;  // libav's names, "mov,mp4,m4a,3gp,3g2,mj2" and "aac"
  std::string codec;
  uint32_t rate_hz = 0;  // of the recording
  uint32_t channels = 0;
  uint64_t samples = 0;  // that were decoded, of 16 kHz
  std::string note;      // for people: what is odd about it; mostly empty
};

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_DECODE_SUMMARY_H_
