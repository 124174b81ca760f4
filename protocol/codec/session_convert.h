#ifndef SUPERFLUID_PROTOCOL_CODEC_SESSION_CONVERT_H_
#define SUPERFLUID_PROTOCOL_CODEC_SESSION_CONVERT_H_

#include "protocol/linkw.pb.h"
#include "protocol/messages/session_messages.h"

namespace superfluid::linkw {

v8::Hello ToProto(const Hello& message);
Hello FromProto(v8::Hello&& proto);

v8::StateSpaceDescriptor ToProto(const StateSpaceDescriptor& descriptor);
StateSpaceDescriptor FromProto(v8::StateSpaceDescriptor&& proto);

v8::RegisteredStrategy ToProto(const RegisteredStrategy& strategy);
RegisteredStrategy FromProto(v8::RegisteredStrategy&& proto);

v8::Limits ToProto(const Limits& limits);
Limits FromProto(v8::Limits&& proto);

v8::HelloAckW ToProto(const HelloAck& message);
HelloAck FromProto(v8::HelloAckW&& proto);

v8::Error ToProto(const Error& message);
Error FromProto(v8::Error&& proto);

v8::Ping ToProto(const Ping& message);
Ping FromProto(v8::Ping&& proto);

v8::Pong ToProto(const Pong& message);
Pong FromProto(v8::Pong&& proto);

v8::DrainReq ToProto(const DrainRequest& message);
DrainRequest FromProto(v8::DrainReq&& proto);

v8::Drained ToProto(const Drained& message);
Drained FromProto(v8::Drained&& proto);

v8::TelemetryCounter ToProto(const TelemetryCounter& counter);
TelemetryCounter FromProto(v8::TelemetryCounter&& proto);

v8::Telemetry ToProto(const Telemetry& message);
Telemetry FromProto(v8::Telemetry&& proto);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_SESSION_CONVERT_H_
