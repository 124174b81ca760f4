#ifndef SUPERFLUID_TESTS_CONFORMANCE_ENVELOPE_H_
#define SUPERFLUID_TESTS_CONFORMANCE_ENVELOPE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace superfluid::conformance {

// The envelope in front of sealed state, read and changed where it lies. Threads: one.
class EnvelopeView {
 public:
  static constexpr size_t kVersion = 8;
  static constexpr size_t kHeaderBytes = 12;
  static constexpr size_t kCompatKey = 16;
  static constexpr size_t kProvenance = 48;
  static constexpr size_t kSpace = 80;
  static constexpr size_t kEncoding = 84;
  static constexpr size_t kRangeStart = 88;
  static constexpr size_t kRangeEnd = 96;
  static constexpr size_t kPayloadLen = 104;
  static constexpr size_t kPayloadHash = 112;
  static constexpr size_t kReserved = 120;
  static constexpr size_t kHash = 152;

  explicit EnvelopeView(std::byte* bytes) : bytes_(bytes) {}

  uint32_t U32(size_t at) const { return Get<uint32_t>(at); }
  uint64_t U64(size_t at) const { return Get<uint64_t>(at); }
  void Set32(size_t at, uint32_t value) { std::memcpy(bytes_ + at, &value, sizeof value); }
  void Set64(size_t at, uint64_t value) { std::memcpy(bytes_ + at, &value, sizeof value); }
  void Flip(size_t at) { bytes_[at] ^= std::byte{1}; }

  // What the hashes must be.
  uint64_t HashOfHeader() const;
  uint64_t HashOfPayload() const;
  // Makes the header's hash right again.
  void Seal() { Set64(kHash, HashOfHeader()); }

 private:
  template <class T>
  T Get(size_t at) const {
    T value{};
    std::memcpy(&value, bytes_ + at, sizeof value);
    return value;
  }

  std::byte* bytes_;
};

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_ENVELOPE_H_
