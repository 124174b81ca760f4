#include "engine/abi/strategy_spec.h"

#include "engine/abi/state_spaces.h"
#include "engine/abi/text.h"

namespace superfluid {

AbiStrategy::AbiStrategy(const StrategySpec& spec) : strategy_{} {
  for (const StrategyArtifact& artifact : spec.artifacts) {
    artifacts_.push_back({sizeof(sfl_strategy_artifact), artifact.role, artifact.byte_size,
                          DigestToAbi(artifact.content_hash), AbiString(artifact.path)});
  }
  for (const StrategyTap& tap : spec.taps) {
    taps_.push_back({tap.layer, tap.tensor, tap.dtype, tap.layout});
  }
  for (const StrategyRequirement& requirement : spec.requirements) {
    requirements_.push_back(
        {requirement.kind_id, 0, requirement.params.data(), requirement.params.size()});
  }
  for (const std::string& arch : spec.target_archs) target_archs_.push_back(AbiString(arch));
  strategy_.struct_size = sizeof strategy_;
  strategy_.claimed_exactness = spec.claimed_exactness;
  strategy_.strategy_id = AbiString(spec.strategy_id);
  strategy_.impl_version = AbiString(spec.impl_version);
  strategy_.impl_hash = DigestToAbi(spec.impl_hash);
  strategy_.config_hash = DigestToAbi(spec.config_hash);
  strategy_.artifacts = artifacts_.data();
  strategy_.artifact_count = artifacts_.size();
  strategy_.artifact_stride = sizeof(sfl_strategy_artifact);
  strategy_.taps = taps_.data();
  strategy_.tap_count = taps_.size();
  strategy_.requirements = requirements_.data();
  strategy_.requirement_count = requirements_.size();
  strategy_.target_archs = target_archs_.data();
  strategy_.target_arch_count = target_archs_.size();
  strategy_.kernel_caps_required = spec.kernel_caps_required;
  strategy_.est_state_bytes = spec.est_state_bytes;
  strategy_.rng_contract_version = spec.rng_contract_version;
}

}  // namespace superfluid
