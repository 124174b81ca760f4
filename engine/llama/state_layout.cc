#include "engine/llama/state_layout.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/sampling/mix.h"

namespace superfluid {
namespace {

constexpr size_t kMagicBytes = 4;
constexpr uint64_t kSequenceBytes = 4;
constexpr uint64_t kMetaBytes = 12;   // of a token
constexpr uint64_t kCountsBytes = 8;  // streams and tokens
constexpr uint64_t kHeaderBytes = 8;  // transposed and layers
constexpr uint64_t kRowsHeader = 12;  // type and bytes of a row
constexpr uint64_t kTransposed = 12;  // type, bytes of an element, rows
constexpr uint32_t kMaxLayers = 4096;
constexpr uint64_t kMaxRowBytes = uint64_t{1} << 24U;

// The library's numbers of types; a block of the last has a scale and 32 bytes.
constexpr int32_t kF32 = 0;
constexpr int32_t kF16 = 1;
constexpr int32_t kQ8 = 8;
constexpr size_t kQ8Block = 34;
constexpr float kMost = 65'504;  // what 16 bits can say

bool IsKnown(int32_t type) { return type == kF32 || type == kF16 || type == kQ8; }

template <typename Number>
Number NumberAt(absl::Span<const std::byte> bytes, size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

// The numbers are finite, and not so large that computing with them is not.
bool CanBe(int32_t type, absl::Span<const std::byte> bytes) {
  if (type == kF32) {
    for (size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
      if (!(std::abs(NumberAt<float>(bytes, i)) <= kMost)) return false;
    }
    return true;
  }
  constexpr uint16_t exponent = 0x7C00;
  const size_t step = type == kQ8 ? kQ8Block : sizeof(uint16_t);
  for (size_t i = 0; i + sizeof(uint16_t) <= bytes.size(); i += step) {
    if ((NumberAt<uint16_t>(bytes, i) & exponent) == exponent) return false;
  }
  return true;
}

absl::Status NoState() {
  return absl::InvalidArgumentError("the bytes are no state of this model's sequences");
}

}  // namespace

// Walks over the bytes; stays good as long as they are there.
class StateLayout::Parser {
 public:
  Parser(absl::Span<const std::byte> bytes, uint64_t tokens) : bytes_(bytes), tokens_(tokens) {}

  bool done() const { return bytes_.empty(); }
  size_t left() const { return bytes_.size(); }

  bool Take(uint64_t count, absl::Span<const std::byte>& taken) {
    if (count > bytes_.size()) return false;
    taken = bytes_.first(count);
    bytes_.remove_prefix(count);
    return true;
  }

  bool TakeSame(absl::Span<const std::byte> expected) {
    absl::Span<const std::byte> taken;
    return Take(expected.size(), taken) && taken == expected;
  }

  template <typename Number>
  bool Read(Number& number) {
    absl::Span<const std::byte> taken;
    if (!Take(sizeof(Number), taken)) return false;
    std::memcpy(&number, taken.data(), sizeof(Number));
    return true;
  }

  // The positions are those of the range, in any order.
  bool ReadCells(TokenRange range) {
    uint32_t streams = 0;
    uint32_t count = 0;
    if (!Read(streams) || !Read(count) || streams != 1 || count != tokens_) return false;
    std::vector<bool> seen(tokens_);
    for (uint64_t i = 0; i < tokens_; ++i) {
      int32_t position = 0;
      uint32_t owners = 0;
      int32_t owner = 0;
      if (!Read(position) || !Read(owners) || !Read(owner) || owners != 1) return false;
      const auto at = static_cast<uint64_t>(position) - range.start;
      if (position < 0 || at >= tokens_ || seen[at]) return false;
      seen[at] = true;
    }
    return true;
  }

  bool LearnPart(bool transposed, Part& part) {
    const auto header = bytes_.first(std::min<size_t>(bytes_.size(), kRowsHeader));
    if (header.size() < kRowsHeader || !Read(part.type) || !IsKnown(part.type)) return false;
    if (transposed) {
      uint32_t element = 0;
      uint32_t rows = 0;
      if (!Read(element) || !Read(rows)) return false;
      part.row_bytes = uint64_t{element} * rows;
    } else if (!Read(part.row_bytes)) {
      return false;
    }
    part.header.assign(header.begin(), header.end());
    absl::Span<const std::byte> data;
    return part.row_bytes <= kMaxRowBytes && Take(part.row_bytes * tokens_, data);
  }

  bool LearnCache(Cache& cache) {
    const auto header = bytes_.first(std::min<size_t>(bytes_.size(), kHeaderBytes));
    uint32_t transposed = 0;
    uint32_t layers = 0;
    if (!Read(transposed) || !Read(layers) || transposed > 1 || layers > kMaxLayers) return false;
    cache.header.assign(header.begin(), header.end());
    for (uint32_t i = 0; i < 2 * layers; ++i) {
      if (!LearnPart(transposed == 1 && i >= layers, cache.parts.emplace_back())) return false;
    }
    return true;
  }

 private:
  absl::Span<const std::byte> bytes_;
  const uint64_t tokens_;
};

static_assert(kRowsHeader == kTransposed);

uint64_t StateLayout::StartBytes() const {
  return magic_.empty() ? 0 : magic_.size() + kSequenceBytes;
}

void StateLayout::Learn(absl::Span<const std::byte> state, uint64_t tokens) {
  if (!LearnFrom(state, tokens, kMagicBytes) && !LearnFrom(state, tokens, 0)) return;
  fixed_bytes_ = StartBytes();
  for (const Cache& cache : caches_) {
    fixed_bytes_ += kCountsBytes + cache.header.size();
    bytes_per_token_ += kMetaBytes;
    for (const Part& part : cache.parts) {
      fixed_bytes_ += part.header.size();
      kv_bytes_per_token_ += part.row_bytes;
    }
  }
  bytes_per_token_ += kv_bytes_per_token_;
}

bool StateLayout::LearnFrom(absl::Span<const std::byte> state, uint64_t tokens,
                            size_t magic_bytes) {
  Parser parser(state, tokens);
  absl::Span<const std::byte> magic;
  absl::Span<const std::byte> sequence;
  if (!parser.Take(magic_bytes, magic)) return false;
  if (magic_bytes > 0 && !parser.Take(kSequenceBytes, sequence)) return false;
  std::vector<Cache> caches;
  while (!parser.done()) {
    if (!parser.ReadCells({0, tokens}) || !parser.LearnCache(caches.emplace_back())) return false;
  }
  magic_.assign(magic.begin(), magic.end());
  caches_ = std::move(caches);
  return true;
}

uint64_t StateLayout::Cache::Bytes(uint64_t tokens) const {
  uint64_t bytes = kCountsBytes + kMetaBytes * tokens + header.size();
  for (const Part& part : parts) bytes += part.header.size() + part.row_bytes * tokens;
  return bytes;
}

void StateLayout::HideSequence(absl::Span<std::byte> state, uint64_t tokens) const {
  constexpr uint64_t owner_offset = 8;
  const int32_t none = 0;
  uint64_t offset = StartBytes();
  if (offset > 0) std::memcpy(state.data() + magic_.size(), &none, sizeof(none));
  for (const Cache& cache : caches_) {
    for (uint64_t i = 0; i < tokens; ++i) {
      const uint64_t at = offset + kCountsBytes + i * kMetaBytes + owner_offset;
      std::memcpy(state.data() + at, &none, sizeof(none));
    }
    offset += cache.Bytes(tokens);
  }
}

uint64_t StateLayout::Bytes(uint64_t tokens) const {
  return fixed_bytes_ + bytes_per_token_ * tokens;
}

uint64_t StateLayout::Fingerprint() const {
  uint64_t mixed = caches_.size();
  const auto mix = [&mixed](const std::vector<std::byte>& bytes) {
    for (const std::byte byte : bytes) mixed = Mix(mixed, static_cast<uint64_t>(byte));
  };
  for (const Cache& cache : caches_) {
    mix(cache.header);
    for (const Part& part : cache.parts) mix(part.header);
  }
  return mixed;
}

absl::Status StateLayout::Check(absl::Span<const std::byte> state, TokenRange range) const {
  const uint64_t tokens = range.end - range.start;
  if (state.size() != Bytes(tokens)) return NoState();
  Parser parser(state, tokens);
  absl::Span<const std::byte> sequence;
  if (!parser.TakeSame(magic_)) return NoState();
  if (!magic_.empty() && !parser.Take(kSequenceBytes, sequence)) return NoState();
  for (const Cache& cache : caches_) {
    if (!parser.ReadCells(range) || !parser.TakeSame(cache.header)) return NoState();
    for (const Part& part : cache.parts) {
      absl::Span<const std::byte> numbers;
      if (!parser.TakeSame(part.header) || !parser.Take(part.row_bytes * tokens, numbers) ||
          !CanBe(part.type, numbers)) {
        return NoState();
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace superfluid
