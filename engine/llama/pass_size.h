#ifndef SUPERFLUID_ENGINE_LLAMA_PASS_SIZE_H_
#define SUPERFLUID_ENGINE_LLAMA_PASS_SIZE_H_

#include <algorithm>
#include <cstddef>

#include "absl/time/time.h"

namespace superfluid {

// How many tokens a pass over the model may have, so that it takes about `target`: from pass to
// pass the lanes of a tick share the time, and the worker sees that the engine is alive. How long a
// token takes depends on the model, on the machine, and on how much lies before it, so passes are
// timed: one that took too long makes the next ones smaller in proportion, a full one that was
// quick makes them up to four times larger.
//
// Threads: one.
class PassSize {
 public:
  // It begins with so many, if they are allowed, and never becomes less.
  static constexpr size_t kLeast = 32;

  // At most `most` tokens; always so many if `target` is zero.
  PassSize(size_t most, absl::Duration target)
      : most_(most),
        target_(target),
        tokens_(target > absl::ZeroDuration() ? std::min(kLeast, most) : most) {}

  size_t tokens() const { return tokens_; }

  // A pass of so many tokens took `time`.
  void Took(size_t tokens, absl::Duration time);

 private:
  const size_t most_;
  const absl::Duration target_;
  size_t tokens_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_PASS_SIZE_H_
