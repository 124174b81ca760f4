#ifndef SUPERFLUID_ENGINE_STRATEGY_H_
#define SUPERFLUID_ENGINE_STRATEGY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/handles.h"
#include "engine/state_job.h"

// Speculative decoding strategies, in the terms of Link W's section 8.
namespace superfluid {

struct BuiltInStrategy {
  StrategySlot slot{};
  std::string strategy_id;
  std::string impl_version;
};

struct StrategyArtifact {
  uint32_t role = 0;
  Digest content_hash{};
  uint64_t byte_size = 0;
  std::string path;
};

struct StrategyTap {
  uint32_t layer = 0;
  uint32_t tensor = 0;
  uint32_t dtype = 0;
  uint32_t layout = 0;
};

struct StrategyRequirement {
  uint32_t kind_id = 0;
  std::vector<uint64_t> params;
};

struct StrategySpec {
  std::string strategy_id;
  std::string impl_version;
  Digest impl_hash{};
  Digest config_hash{};
  std::vector<StrategyArtifact> artifacts;
  std::vector<StrategyTap> taps;
  std::vector<StrategyRequirement> requirements;
  std::vector<std::string> target_archs;  // empty: any
  uint64_t kernel_caps_required = 0;
  uint64_t est_state_bytes = 0;
  uint32_t claimed_exactness = 0;
  uint32_t rng_contract_version = 0;
};

// A promise about what a strategy draws.
struct StrategyCertificate {
  uint64_t cert_id = 0;
  uint32_t exactness = 0;
  uint32_t sampling_modes = 0;
  uint64_t param_domain = 0;
  bool grammar_allowed = false;
  bool logit_bias_allowed = false;
  uint32_t verification_shape_class = 0;
  std::vector<Digest> admissible_host_identities;
};

struct StrategyTerms {
  StrategySlot slot{};
  std::vector<StrategyCertificate> certificates;
  std::vector<StateSpace> state_spaces;
  uint64_t reserved_bytes = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_STRATEGY_H_
