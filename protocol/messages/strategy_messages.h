#ifndef SUPERFLUID_PROTOCOL_MESSAGES_STRATEGY_MESSAGES_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_STRATEGY_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/ids.h"
#include "protocol/messages/session_messages.h"
#include "protocol/messages/status.h"

// Registration of a speculative decoding strategy.
namespace superfluid::linkw {

struct StrategyArtifact {
  uint32_t role = 0;
  Hash content_hash{};
  uint64_t byte_size = 0;
  std::string load_path;  // any bytes but NUL
  bool operator==(const StrategyArtifact&) const = default;
};

struct TapSpec {
  uint32_t layer = 0;
  uint32_t tensor = 0;
  uint32_t dtype = 0;
  uint32_t layout = 0;
  bool operator==(const TapSpec&) const = default;
};

struct CapabilityRequirement {
  uint32_t kind_id = 0;
  std::vector<uint64_t> params;
  bool operator==(const CapabilityRequirement&) const = default;
};

struct StrategyRegister {
  std::string strategy_id;
  std::string impl_version;
  Hash impl_hash{};
  Hash config_hash{};
  std::vector<StrategyArtifact> artifacts;
  std::vector<TapSpec> taps;
  std::vector<CapabilityRequirement> capabilities;
  std::vector<std::string> target_archs;
  uint64_t kernel_caps_required = 0;
  uint64_t est_state_bytes = 0;
  uint32_t claimed_exactness = 0;
  uint32_t rng_contract_version = 0;
  bool operator==(const StrategyRegister&) const = default;
};

struct ExactnessCertificate {
  uint64_t cert_id = 0;
  uint32_t exactness = 0;
  uint32_t sampling_modes = 0;
  uint64_t param_domain = 0;
  bool grammar_allowed = false;
  bool logit_bias_allowed = false;
  uint32_t verification_shape_class = 0;
  std::vector<Hash> admissible_host_identities;
  bool operator==(const ExactnessCertificate&) const = default;
};

struct StrategyGrant {
  Status status = Status::kOk;  // else refused, and the rest is empty
  std::string message;
  StrategySlot strategy_slot{};
  std::vector<ExactnessCertificate> certificates;
  std::vector<StateSpaceDescriptor> state_spaces;
  uint64_t reserved_bytes = 0;
  bool operator==(const StrategyGrant&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_STRATEGY_MESSAGES_H_
