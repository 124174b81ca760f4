#ifndef SUPERFLUID_ENGINE_SAMPLING_LOGIT_BIASES_H_
#define SUPERFLUID_ENGINE_SAMPLING_LOGIT_BIASES_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/handles.h"
#include "engine/sampling/handle_source.h"
#include "engine/sampling/sampler.h"

namespace superfluid {

inline constexpr size_t kMaxLogitBiases = 1024;

// The logit biases that exist. Threads: one. Lifetime: the handle source must outlive it.
class LogitBiases {
 public:
  LogitBiases(HandleSource& handles, uint32_t vocab) : handles_(handles), vocab_(vocab) {}

  // InvalidArgument: not as many values as tokens, a token twice or outside the vocabulary, a
  // value that is no number or +infinity (-infinity forbids the token). ResourceExhausted.
  absl::StatusOr<LogitBiasHandle> Add(absl::Span<const Token> tokens,
                                      absl::Span<const float> values);
  absl::Status Free(LogitBiasHandle handle);  // NotFound
  // Null for handle 0; NotFound. Valid until it is freed.
  absl::StatusOr<const LogitBias*> Find(LogitBiasHandle handle) const;
  void Clear() { biases_.clear(); }

 private:
  HandleSource& handles_;
  const uint32_t vocab_;
  std::map<LogitBiasHandle, LogitBias> biases_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_LOGIT_BIASES_H_
