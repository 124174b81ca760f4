#include <vector>

#include "engine/sdk/shim_types.h"

// Of the shim: strategies.
namespace superfluid::sdk {
namespace {

sfl_status Strategies(sfl_engine* engine, sfl_list* strategies, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    FillList<sfl_built_in_strategy>(
        generation.Strategies(), *strategies,
        [](const BuiltInStrategy& strategy, sfl_built_in_strategy& raw) {
          raw.slot = static_cast<uint32_t>(strategy.slot);
          CopyToArray(strategy.strategy_id, raw.strategy_id);
          CopyToArray(strategy.impl_version, raw.impl_version);
        });
    return absl::OkStatus();
  });
}

void ListsFromHost(const sfl_strategy& raw, StrategySpec& spec) {
  for (size_t i = 0; i < raw.artifact_count; ++i) {
    const sfl_strategy_artifact artifact = CopyIn(static_cast<const sfl_strategy_artifact*>(
        sfl_offset(raw.artifacts, raw.artifact_stride, i)));
    spec.artifacts.push_back({artifact.role, DigestFromHost(artifact.content_hash),
                              artifact.byte_size, Copied(artifact.path)});
  }
  for (size_t i = 0; i < raw.tap_count; ++i) {
    const sfl_strategy_tap& tap = raw.taps[i];
    spec.taps.push_back({tap.layer, tap.tensor, tap.dtype, tap.layout});
  }
  for (size_t i = 0; i < raw.requirement_count; ++i) {
    const sfl_strategy_requirement& requirement = raw.requirements[i];
    const auto params = absl::MakeConstSpan(requirement.params, requirement.param_count);
    spec.requirements.push_back({requirement.kind_id, {params.begin(), params.end()}});
  }
  for (size_t i = 0; i < raw.target_arch_count; ++i) {
    spec.target_archs.push_back(Copied(raw.target_archs[i]));
  }
}

StrategySpec SpecFromHost(const sfl_strategy& raw) {
  StrategySpec spec;
  spec.strategy_id = Copied(raw.strategy_id);
  spec.impl_version = Copied(raw.impl_version);
  spec.impl_hash = DigestFromHost(raw.impl_hash);
  spec.config_hash = DigestFromHost(raw.config_hash);
  ListsFromHost(raw, spec);
  spec.kernel_caps_required = raw.kernel_caps_required;
  spec.est_state_bytes = raw.est_state_bytes;
  spec.claimed_exactness = raw.claimed_exactness;
  spec.rng_contract_version = raw.rng_contract_version;
  return spec;
}

void CertificateToHost(const StrategyCertificate& certificate, sfl_certificate& raw) {
  raw.cert_id = certificate.cert_id;
  raw.exactness = certificate.exactness;
  raw.sampling_modes = certificate.sampling_modes;
  raw.param_domain = certificate.param_domain;
  raw.flags = (certificate.grammar_allowed ? uint32_t{SFL_CERTIFICATE_GRAMMAR} : 0U) |
              (certificate.logit_bias_allowed ? uint32_t{SFL_CERTIFICATE_LOGIT_BIAS} : 0U);
  raw.verification_shape_class = certificate.verification_shape_class;
  raw.identity_count = static_cast<uint32_t>(certificate.admissible_host_identities.size());
}

void TermsToHost(const StrategyTerms& terms, sfl_strategy_terms& raw) {
  raw.slot = static_cast<uint32_t>(terms.slot);
  raw.reserved_bytes = terms.reserved_bytes;
  std::vector<Digest> identities;
  for (const StrategyCertificate& certificate : terms.certificates) {
    identities.insert(identities.end(), certificate.admissible_host_identities.begin(),
                      certificate.admissible_host_identities.end());
  }
  FillList<sfl_certificate>(terms.certificates, raw.certificates, CertificateToHost);
  FillList<sfl_digest>(identities, raw.identities, [](const Digest& digest, sfl_digest& element) {
    element = DigestToHost(digest);
  });
  FillList<sfl_state_space>(terms.state_spaces, raw.state_spaces, SpaceToHost);
}

sfl_status RegisterStrategy(sfl_engine* engine, const sfl_strategy* strategy,
                            sfl_strategy_terms* terms, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) -> absl::Status {
    const absl::StatusOr<StrategyTerms> granted =
        generation.RegisterStrategy(SpecFromHost(CopyIn(strategy)));
    if (!granted.ok()) return granted.status();
    FillIn(terms, [&](sfl_strategy_terms& raw) { TermsToHost(*granted, raw); });
    return absl::OkStatus();
  });
}

}  // namespace

void AddStrategies(sfl_engine_vtable& table) noexcept {
  table.strategies = &Strategies;
  table.register_strategy = &RegisterStrategy;
}

}  // namespace superfluid::sdk
