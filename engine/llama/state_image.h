#ifndef SUPERFLUID_ENGINE_LLAMA_STATE_IMAGE_H_
#define SUPERFLUID_ENGINE_LLAMA_STATE_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/handles.h"
#include "engine/llama/state_layout.h"

namespace superfluid {

// Where the parts of exported state lie: see llama_state_job.h.
class StateImage {
 public:
  // `part`: tokens of a part, at least 1.
  StateImage(const StateLayout& layout, TokenRange range, uint32_t part)
      : layout_(layout), range_(range), part_(part) {}

  uint64_t tokens() const { return range_.end - range_.start; }
  uint64_t parts() const { return (tokens() + part_ - 1) / part_; }
  uint64_t bytes() const { return PartOffset(parts()); }
  TokenRange PartRange(uint64_t index) const;
  // Of a part, or behind the last one.
  uint64_t PartOffset(uint64_t index) const;

  // The header and the tokens.
  std::vector<std::byte> Head(absl::Span<const Token> tokens, const std::vector<bool>& drawn) const;

 private:
  const StateLayout& layout_;
  TokenRange range_;
  uint32_t part_;
};

// The head of state that comes in.
struct StateHead {
  uint32_t part = 0;
  std::vector<Token> tokens;
  std::vector<bool> drawn;
};
// InvalidArgument: no head of this range, or a token that is not below `vocab`.
absl::StatusOr<StateHead> ParseStateHead(absl::Span<const std::byte> bytes, TokenRange range,
                                         uint32_t vocab);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_STATE_IMAGE_H_
