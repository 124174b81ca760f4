#ifndef SUPERFLUID_ENGINE_LLAMA_STATE_IMAGE_H_
#define SUPERFLUID_ENGINE_LLAMA_STATE_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cache/token_provenance.h"
#include "engine/handles.h"
#include "engine/llama/state_layout.h"

namespace superfluid {

// Tokens that stand for the same media, without gaps.
struct MediaRun {
  uint64_t start = 0;
  uint64_t count = 0;
  uint64_t fingerprint = 0;
};
// Those within the range; positions are the sequence's.
std::vector<MediaRun> MediaRuns(const MediaMap& media, TokenRange range);

// Where the parts of exported state lie: see llama_state_movers.h.
class StateImage {
 public:
  // `part`: tokens of a part, at least 1. `media_runs`: how many there are in the range.
  StateImage(const StateLayout& layout, TokenRange range, uint32_t part, uint64_t media_runs)
      : layout_(layout), range_(range), part_(part), media_runs_(media_runs) {}

  uint64_t tokens() const { return range_.end - range_.start; }
  uint64_t parts() const { return (tokens() + part_ - 1) / part_; }
  uint64_t bytes() const { return PartOffset(parts()); }
  TokenRange PartRange(uint64_t index) const;
  // Of a part, or behind the last one.
  uint64_t PartOffset(uint64_t index) const;

  // The header, the tokens and the media.
  std::vector<std::byte> Head(absl::Span<const Token> tokens, const std::vector<bool>& drawn,
                              absl::Span<const MediaRun> media) const;

 private:
  const StateLayout& layout_;
  TokenRange range_;
  uint32_t part_;
  uint64_t media_runs_;
};

// The head of state that comes in.
struct StateHead {
  uint32_t part = 0;
  std::vector<Token> tokens;
  std::vector<bool> drawn;
  uint64_t media_runs = 0;
  MediaMap media;  // positions are the sequence's
};
// InvalidArgument: no head of this range, or a token that is not below `vocab`.
absl::StatusOr<StateHead> ParseStateHead(absl::Span<const std::byte> bytes, TokenRange range,
                                         uint32_t vocab);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_STATE_IMAGE_H_
