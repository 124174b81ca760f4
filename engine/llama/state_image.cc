#include "engine/llama/state_image.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr uint32_t kMagic = 0x53564B4C;  // "LKVS"
constexpr uint32_t kVersion = 1;
constexpr uint32_t kDrawn = uint32_t{1} << 31U;

struct Header {
  uint32_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t part = 0;
  uint32_t zero = 0;
  uint64_t start = 0;
  uint64_t end = 0;
};
static_assert(sizeof(Header) == 32);

}  // namespace

TokenRange StateImage::PartRange(uint64_t index) const {
  const uint64_t start = range_.start + index * part_;
  return {start, std::min(start + part_, range_.end)};
}

uint64_t StateImage::PartOffset(uint64_t index) const {
  const uint64_t head = sizeof(Header) + tokens() * sizeof(uint32_t);
  const uint64_t whole = std::min(index, tokens() / part_);
  uint64_t offset = head + whole * layout_.Bytes(part_);
  if (index > whole) offset += layout_.Bytes(tokens() % part_);
  return offset;
}

std::vector<std::byte> StateImage::Head(absl::Span<const Token> tokens,
                                        const std::vector<bool>& drawn) const {
  const Header header{kMagic, kVersion, part_, 0, range_.start, range_.end};
  std::vector<std::byte> bytes(sizeof(header) + tokens.size() * sizeof(uint32_t));
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (size_t i = 0; i < tokens.size(); ++i) {
    const uint32_t word = tokens[i] | (drawn[i] ? kDrawn : 0);
    std::memcpy(bytes.data() + sizeof(header) + i * sizeof(word), &word, sizeof(word));
  }
  return bytes;
}

absl::StatusOr<StateHead> ParseStateHead(absl::Span<const std::byte> bytes, TokenRange range,
                                         uint32_t vocab) {
  const absl::Status bad =
      absl::InvalidArgumentError("the bytes are no state of this range of tokens");
  Header header;
  const uint64_t count = range.end - range.start;
  if (bytes.size() < sizeof(header)) return bad;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kMagic || header.version != kVersion || header.zero != 0) return bad;
  if (header.part == 0 || header.start != range.start || header.end != range.end) return bad;
  if (count > (bytes.size() - sizeof(header)) / sizeof(uint32_t)) return bad;
  StateHead head;
  head.part = header.part;
  head.tokens.reserve(count);
  head.drawn.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t word = 0;
    std::memcpy(&word, bytes.data() + sizeof(header) + i * sizeof(word), sizeof(word));
    const Token token = word & ~kDrawn;
    if (token >= vocab) return bad;
    head.tokens.push_back(token);
    head.drawn.push_back((word & kDrawn) != 0);
  }
  return head;
}

}  // namespace superfluid
