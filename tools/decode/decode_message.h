#ifndef SUPERFLUID_TOOLS_DECODE_DECODE_MESSAGE_H_
#define SUPERFLUID_TOOLS_DECODE_DECODE_MESSAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace superfluid::decode {

// How a decoder process and its client talk. Both are of one build, so the structures are their own
// wire format. Descriptors of the process when it starts:
//
//   3  a SOCK_SEQPACKET socket: one DecodeRequest with the recording's descriptor comes in, one
//      DecodeReport goes out
//   4  the end of a pipe for the samples: float, little-endian, mono, 16 kHz
//   5  the reading end of a pipe to which nothing is written: when its other end is closed, by
//      whatever way the client ends, the kernel kills the process
inline constexpr int kControlFd = 3;
inline constexpr int kPcmFd = 4;
inline constexpr int kLifelineFd = 5;
inline constexpr int kInputFd = 6;  // of the recording, once it has come

// What one recording may cost. Each limit ends its own request.
struct DecodeLimits {
  uint64_t input_bytes = 0;  // of a file, how many from its beginning are the recording; 0: all
  uint64_t max_input_bytes = uint64_t{4} << 30;
  uint64_t max_seconds = 24 * 3600;             // of decoded audio
  uint64_t memory_bytes = uint64_t{256} << 20;  // beyond what the libraries take
  uint64_t cpu_seconds = 600;
};

struct DecodeRequest {
  DecodeLimits limits;
};

enum class DecodeOutcome : uint32_t {
  kDone,
  kUnknownFormat,  // no container that libav knows
  kRefusedFormat,  // known, but none of those that hold recordings
  kNoAudio,
  kRefusedCodec,
  kDamaged,  // nothing, or not all of it, can be decoded
  kTooLarge,
  kTooLong,
  kOutOfMemory,
  kInternal,
};
inline constexpr uint32_t kDecodeOutcomes = 10;

inline constexpr size_t kReportNameBytes = 64;
inline constexpr size_t kReportTextBytes = 256;

// Texts end with a NUL. The client trusts none of it: the process may have been taken over by what
// it read.
struct DecodeReport {
  DecodeOutcome outcome = DecodeOutcome::kInternal;
  uint32_t rate_hz = 0;  // of the recording
  uint32_t channels = 0;
  uint32_t damaged_packets = 0;
  uint64_t samples = 0;  // written
  std::array<char, kReportNameBytes> container = {};
  std::array<char, kReportNameBytes> codec = {};
  std::array<char, kReportTextBytes> text = {};  // why it failed, or a note
};
static_assert(std::is_trivially_copyable_v<DecodeRequest>);
static_assert(std::is_trivially_copyable_v<DecodeReport>);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_DECODE_MESSAGE_H_
