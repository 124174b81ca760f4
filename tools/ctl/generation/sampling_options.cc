#include "tools/ctl/generation/sampling_options.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tools/ctl/base/time_option.h"

namespace superfluid::ctl {
namespace {

constexpr char kGroup[] = "Sampling";
constexpr uint32_t kMaxTokensPerTick = 1024;  // what an out slot holds
constexpr size_t kMaxStopTokens = 256;        // of a lane, on the wire

}  // namespace

void AddSamplingOptions(CLI::App& app, SamplingOptions& options) {
  linkw::Sampling& sampling = options.sampling;
  app.add_option("--temperature", sampling.temperature,
                 "0: always the most likely token; higher: more random")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--top-k", sampling.top_k, "Draw among the k most likely tokens; 0: among all")
      ->check(CLI::Range(uint32_t{0}, std::numeric_limits<uint32_t>::max()))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--top-p", sampling.top_p,
                 "Draw among the fewest tokens that have this probability together; 0: among all")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--min-p", sampling.min_p,
                 "Draw among tokens this likely relative to the most likely one; 0: among all")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--repetition-penalty", sampling.repetition_penalty,
                 "More than 1: tokens that were there already become less likely; 0: off")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--seed", sampling.seed, "The same seed draws the same tokens")
      ->check(NotNegative())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--stop", options.stop_tokens, "End when this token is drawn; may be repeated")
      ->expected(1)
      ->check(NotNegative())
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(kGroup);
  app.add_option("--tokens-per-tick", options.tokens_per_tick,
                 "Tokens that the worker draws in one tick, at most")
      ->check(CLI::Range(uint32_t{1}, kMaxTokensPerTick))
      ->capture_default_str()
      ->group(kGroup);
}

// NaN is in every range.
absl::Status CheckSamplingOptions(const SamplingOptions& options) {
  const linkw::Sampling& sampling = options.sampling;
  for (const float number :
       {sampling.temperature, sampling.top_p, sampling.min_p, sampling.repetition_penalty}) {
    if (!std::isfinite(number)) return absl::InvalidArgumentError("a sampling number is no number");
  }
  if (options.stop_tokens.size() > kMaxStopTokens) {
    return absl::InvalidArgumentError(
        absl::StrCat("at most ", kMaxStopTokens, " stop tokens can be given"));
  }
  return absl::OkStatus();
}

}  // namespace superfluid::ctl
