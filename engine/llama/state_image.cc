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
  uint32_t media_runs = 0;
  uint64_t start = 0;
  uint64_t end = 0;
};
static_assert(sizeof(Header) == 32);
static_assert(sizeof(MediaRun) == 24);

// Fills in head.media. False: these cannot be the runs of this range.
bool ParseMedia(absl::Span<const std::byte> bytes, TokenRange range, StateHead& head) {
  MediaRun last;
  uint64_t last_end = range.start;
  for (uint64_t i = 0; i < head.media_runs; ++i) {
    MediaRun run;
    std::memcpy(&run, bytes.data() + i * sizeof(run), sizeof(run));
    // In order, within the range, and as long as they can be.
    if (run.fingerprint == 0 || run.start < last_end || run.start > range.end) return false;
    if (run.count == 0 || run.count > range.end - run.start) return false;
    if (i > 0 && run.start == last_end && run.fingerprint == last.fingerprint) return false;
    last = run;
    last_end = run.start + run.count;
    for (uint64_t at = run.start; at < last_end; ++at) {
      head.media.emplace_hint(head.media.end(), at, run.fingerprint);
    }
  }
  return true;
}

}  // namespace

std::vector<MediaRun> MediaRuns(const MediaMap& media, TokenRange range) {
  std::vector<MediaRun> runs;
  for (auto at = media.lower_bound(range.start); at != media.lower_bound(range.end); ++at) {
    const auto& [position, fingerprint] = *at;
    const bool more = !runs.empty() && runs.back().fingerprint == fingerprint &&
                      runs.back().start + runs.back().count == position;
    if (more) {
      ++runs.back().count;
    } else {
      runs.push_back({position, 1, fingerprint});
    }
  }
  return runs;
}

TokenRange StateImage::PartRange(uint64_t index) const {
  const uint64_t start = range_.start + index * part_;
  return {start, std::min(start + part_, range_.end)};
}

uint64_t StateImage::PartOffset(uint64_t index) const {
  const uint64_t head =
      sizeof(Header) + tokens() * sizeof(uint32_t) + media_runs_ * sizeof(MediaRun);
  const uint64_t whole = std::min(index, tokens() / part_);
  uint64_t offset = head + whole * layout_.Bytes(part_);
  if (index > whole) offset += layout_.Bytes(tokens() % part_);
  return offset;
}

std::vector<std::byte> StateImage::Head(absl::Span<const Token> tokens,
                                        const std::vector<bool>& drawn,
                                        absl::Span<const MediaRun> media) const {
  const Header header{kMagic,       kVersion,  part_, static_cast<uint32_t>(media.size()),
                      range_.start, range_.end};
  const size_t before_media = sizeof(header) + tokens.size() * sizeof(uint32_t);
  std::vector<std::byte> bytes(before_media + media.size() * sizeof(MediaRun));
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (size_t i = 0; i < tokens.size(); ++i) {
    const uint32_t word = tokens[i] | (drawn[i] ? kDrawn : 0);
    std::memcpy(bytes.data() + sizeof(header) + i * sizeof(word), &word, sizeof(word));
  }
  if (!media.empty()) {
    std::memcpy(bytes.data() + before_media, media.data(), media.size() * sizeof(MediaRun));
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
  if (header.magic != kMagic || header.version != kVersion) return bad;
  if (header.part == 0 || header.start != range.start || header.end != range.end) return bad;
  if (count > (bytes.size() - sizeof(header)) / sizeof(uint32_t)) return bad;
  const uint64_t before_media = sizeof(header) + count * sizeof(uint32_t);
  if (header.media_runs > (bytes.size() - before_media) / sizeof(MediaRun)) return bad;
  StateHead head;
  head.media_runs = header.media_runs;
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
  if (!ParseMedia(bytes.subspan(before_media), range, head)) return bad;
  return head;
}

}  // namespace superfluid
