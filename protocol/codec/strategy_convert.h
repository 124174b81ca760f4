#ifndef SUPERFLUID_PROTOCOL_CODEC_STRATEGY_CONVERT_H_
#define SUPERFLUID_PROTOCOL_CODEC_STRATEGY_CONVERT_H_

#include "protocol/linkw.pb.h"
#include "protocol/messages/strategy_messages.h"

namespace superfluid::linkw {

v8::StrategyRegister ToProto(const StrategyRegister& message);
StrategyRegister FromProto(v8::StrategyRegister&& proto);

v8::StrategyGrant ToProto(const StrategyGrant& message);
StrategyGrant FromProto(v8::StrategyGrant&& proto);

// Of the elements of the above, for their lists.
v8::StrategyArtifact ToProto(const StrategyArtifact& artifact);
StrategyArtifact FromProto(v8::StrategyArtifact&& proto);
v8::TapSpec ToProto(const TapSpec& tap);
TapSpec FromProto(v8::TapSpec&& proto);
v8::CapabilityRequirement ToProto(const CapabilityRequirement& requirement);
CapabilityRequirement FromProto(v8::CapabilityRequirement&& proto);
v8::ExactnessCertificate ToProto(const ExactnessCertificate& certificate);
ExactnessCertificate FromProto(v8::ExactnessCertificate&& proto);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_STRATEGY_CONVERT_H_
