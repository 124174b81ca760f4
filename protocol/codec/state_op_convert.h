#ifndef SUPERFLUID_PROTOCOL_CODEC_STATE_OP_CONVERT_H_
#define SUPERFLUID_PROTOCOL_CODEC_STATE_OP_CONVERT_H_

#include "absl/status/statusor.h"
#include "protocol/linkw.pb.h"
#include "protocol/messages/state_op_messages.h"

namespace superfluid::linkw {

v8::StateOpSubmit ToProto(const StateOpSubmit& message);
// kUnsupported: no op that this version knows.
absl::StatusOr<StateOpSubmit> FromProto(v8::StateOpSubmit&& proto);

v8::StateOpAccepted ToProto(const StateOpAccepted& message);
StateOpAccepted FromProto(v8::StateOpAccepted&& proto);

v8::StateOpDone ToProto(const StateOpDone& message);
StateOpDone FromProto(v8::StateOpDone&& proto);

v8::OpCancel ToProto(const OpCancel& message);
OpCancel FromProto(v8::OpCancel&& proto);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_STATE_OP_CONVERT_H_
