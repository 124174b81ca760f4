#include "protocol/codec/strategy_convert.h"

#include <cstdint>
#include <string>
#include <utility>

#include "protocol/codec/convert_common.h"
#include "protocol/codec/session_convert.h"

namespace superfluid::linkw {

v8::StrategyArtifact ToProto(const StrategyArtifact& artifact) {
  v8::StrategyArtifact proto;
  proto.set_role(artifact.role);
  proto.set_content_hash(ToWireBytes(artifact.content_hash));
  proto.set_byte_size(artifact.byte_size);
  proto.set_load_path(artifact.load_path);
  return proto;
}

StrategyArtifact FromProto(v8::StrategyArtifact&& proto) {
  return {proto.role(), FromWireBytes<Hash>(proto.content_hash()), proto.byte_size(),
          std::move(*proto.mutable_load_path())};
}

v8::TapSpec ToProto(const TapSpec& tap) {
  v8::TapSpec proto;
  proto.set_layer(tap.layer);
  proto.set_tensor(tap.tensor);
  proto.set_dtype(tap.dtype);
  proto.set_layout(tap.layout);
  return proto;
}

TapSpec FromProto(v8::TapSpec&& proto) {
  return {proto.layer(), proto.tensor(), proto.dtype(), proto.layout()};
}

v8::CapabilityRequirement ToProto(const CapabilityRequirement& requirement) {
  v8::CapabilityRequirement proto;
  proto.set_kind_id(requirement.kind_id);
  proto.mutable_params()->Assign(requirement.params.begin(), requirement.params.end());
  return proto;
}

CapabilityRequirement FromProto(v8::CapabilityRequirement&& proto) {
  return {proto.kind_id(), ToVector<uint64_t>(proto.params())};
}

v8::StrategyRegister ToProto(const StrategyRegister& message) {
  v8::StrategyRegister proto;
  proto.set_strategy_id(message.strategy_id);
  proto.set_impl_version(message.impl_version);
  proto.set_impl_hash(ToWireBytes(message.impl_hash));
  proto.set_config_hash(ToWireBytes(message.config_hash));
  AddEach(message.artifacts, proto.mutable_artifacts());
  AddEach(message.taps, proto.mutable_taps());
  AddEach(message.capabilities, proto.mutable_capabilities());
  proto.mutable_target_archs()->Assign(message.target_archs.begin(), message.target_archs.end());
  proto.set_kernel_caps_required(message.kernel_caps_required);
  proto.set_est_state_bytes(message.est_state_bytes);
  proto.set_claimed_exactness(message.claimed_exactness);
  proto.set_rng_contract_version(message.rng_contract_version);
  return proto;
}

StrategyRegister FromProto(v8::StrategyRegister&& proto) {
  StrategyRegister message;
  message.strategy_id = std::move(*proto.mutable_strategy_id());
  message.impl_version = std::move(*proto.mutable_impl_version());
  message.impl_hash = FromWireBytes<Hash>(proto.impl_hash());
  message.config_hash = FromWireBytes<Hash>(proto.config_hash());
  message.artifacts = ConvertEach<StrategyArtifact>(*proto.mutable_artifacts(), FromProto);
  message.taps = ConvertEach<TapSpec>(*proto.mutable_taps(), FromProto);
  message.capabilities =
      ConvertEach<CapabilityRequirement>(*proto.mutable_capabilities(), FromProto);
  message.target_archs = ToVector<std::string>(proto.target_archs());
  message.kernel_caps_required = proto.kernel_caps_required();
  message.est_state_bytes = proto.est_state_bytes();
  message.claimed_exactness = proto.claimed_exactness();
  message.rng_contract_version = proto.rng_contract_version();
  return message;
}

v8::ExactnessCertificate ToProto(const ExactnessCertificate& certificate) {
  v8::ExactnessCertificate proto;
  proto.set_cert_id(certificate.cert_id);
  proto.set_exactness(certificate.exactness);
  proto.set_sampling_modes(certificate.sampling_modes);
  proto.set_param_domain(certificate.param_domain);
  proto.set_grammar_allowed(certificate.grammar_allowed);
  proto.set_logit_bias_allowed(certificate.logit_bias_allowed);
  proto.set_verification_shape_class(certificate.verification_shape_class);
  for (const Hash& identity : certificate.admissible_host_identities) {
    proto.add_admissible_host_identities(ToWireBytes(identity));
  }
  return proto;
}

ExactnessCertificate FromProto(v8::ExactnessCertificate&& proto) {
  ExactnessCertificate certificate;
  certificate.cert_id = proto.cert_id();
  certificate.exactness = proto.exactness();
  certificate.sampling_modes = proto.sampling_modes();
  certificate.param_domain = proto.param_domain();
  certificate.grammar_allowed = proto.grammar_allowed();
  certificate.logit_bias_allowed = proto.logit_bias_allowed();
  certificate.verification_shape_class = proto.verification_shape_class();
  for (const std::string& identity : proto.admissible_host_identities()) {
    certificate.admissible_host_identities.push_back(FromWireBytes<Hash>(identity));
  }
  return certificate;
}

v8::StrategyGrant ToProto(const StrategyGrant& message) {
  v8::StrategyGrant proto;
  proto.set_status(ToProto(message.status));
  proto.set_message(MessageText(message.message));
  proto.set_strategy_slot(Raw(message.strategy_slot));
  AddEach(message.certificates, proto.mutable_certificates());
  AddEach(message.state_spaces, proto.mutable_state_spaces());
  proto.set_reserved_bytes(message.reserved_bytes);
  return proto;
}

StrategyGrant FromProto(v8::StrategyGrant&& proto) {
  StrategyGrant message;
  message.status = FromProto(proto.status());
  message.message = std::move(*proto.mutable_message());
  message.strategy_slot = StrategySlot{proto.strategy_slot()};
  message.certificates =
      ConvertEach<ExactnessCertificate>(*proto.mutable_certificates(), FromProto);
  message.state_spaces =
      ConvertEach<StateSpaceDescriptor>(*proto.mutable_state_spaces(), FromProto);
  message.reserved_bytes = proto.reserved_bytes();
  return message;
}

}  // namespace superfluid::linkw
