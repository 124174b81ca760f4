#ifndef SUPERFLUID_TOOLS_CTL_GENERATION_SAMPLING_OPTIONS_H_
#define SUPERFLUID_TOOLS_CTL_GENERATION_SAMPLING_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "protocol/messages/messages.h"

namespace superfluid::ctl {

// How tokens are drawn, and how many at once.
struct SamplingOptions {
  linkw::Sampling sampling;
  std::vector<linkw::Token> stop_tokens;
  uint32_t tokens_per_tick = 16;
};

// Adds --temperature to --seed, --stop and --tokens-per-tick. `options` must outlive `app`.
void AddSamplingOptions(CLI::App& app, SamplingOptions& options);

// What the parser cannot see. InvalidArgument, for people.
absl::Status CheckSamplingOptions(const SamplingOptions& options);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_GENERATION_SAMPLING_OPTIONS_H_
