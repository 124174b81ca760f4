#include "protocol/codec/session_convert.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "protocol/codec/convert_common.h"
#include "protocol/codec/memory_convert.h"

namespace superfluid::linkw {
namespace {

constexpr size_t kMaxCapabilitiesBytes = 1048576;

// A version too large for a header stays too large to be spoken.
uint16_t ToVersion(uint32_t wire) {
  return static_cast<uint16_t>(std::min<uint32_t>(wire, std::numeric_limits<uint16_t>::max()));
}

// An error that claims to be none would be taken for success.
Status ErrorStatus(v8::Status wire) {
  const Status status = FromProto(wire);
  return status == Status::kOk ? Status::kInternal : status;
}

}  // namespace

v8::Hello ToProto(const Hello& message) {
  v8::Hello proto;
  proto.mutable_proto_versions()->set_min(message.proto_versions.min);
  proto.mutable_proto_versions()->set_max(message.proto_versions.max);
  proto.set_client_name(message.client_name);
  proto.set_role(static_cast<v8::Role>(message.role));
  proto.mutable_features()->Assign(message.features.begin(), message.features.end());
  return proto;
}

Hello FromProto(v8::Hello&& proto) {
  Hello message;
  message.proto_versions = {ToVersion(proto.proto_versions().min()),
                            ToVersion(proto.proto_versions().max())};
  message.client_name = std::move(*proto.mutable_client_name());
  message.role = static_cast<Role>(proto.role());
  message.features = ToVector<std::string>(proto.features());
  return message;
}

v8::StateSpaceDescriptor ToProto(const StateSpaceDescriptor& descriptor) {
  v8::StateSpaceDescriptor proto;
  proto.set_space_id(Raw(descriptor.space_id));
  proto.set_name(ToUtf8(descriptor.name, kMaxNameBytes));
  proto.set_bytes_per_token(descriptor.bytes_per_token);
  proto.set_boundary_tokens(descriptor.boundary_tokens);
  proto.set_encodings(descriptor.encodings);
  proto.set_compat_key(ToWireBytes(descriptor.compat_key));
  return proto;
}

StateSpaceDescriptor FromProto(v8::StateSpaceDescriptor&& proto) {
  return {SpaceId{proto.space_id()}, std::move(*proto.mutable_name()),
          proto.bytes_per_token(),   proto.boundary_tokens(),
          proto.encodings(),         FromWireBytes<Hash>(proto.compat_key())};
}

v8::RegisteredStrategy ToProto(const RegisteredStrategy& strategy) {
  v8::RegisteredStrategy proto;
  proto.set_strategy_slot(Raw(strategy.strategy_slot));
  proto.set_strategy_id(ToUtf8(strategy.strategy_id, kMaxNameBytes));
  proto.set_impl_version(ToUtf8(strategy.impl_version, kMaxNameBytes));
  return proto;
}

RegisteredStrategy FromProto(v8::RegisteredStrategy&& proto) {
  return {StrategySlot{proto.strategy_slot()}, std::move(*proto.mutable_strategy_id()),
          std::move(*proto.mutable_impl_version())};
}

v8::Limits ToProto(const Limits& limits) {
  v8::Limits proto;
  proto.set_max_frame(limits.max_frame);
  proto.set_op_window(limits.op_window);
  AddEach(limits.ring_specs, proto.mutable_ring_specs());
  proto.set_max_lanes(limits.max_lanes);
  proto.set_max_transcriptions(limits.max_transcriptions);
  return proto;
}

Limits FromProto(v8::Limits&& proto) {
  return {proto.max_frame(), proto.op_window(),
          ConvertEach<RingSpec>(*proto.mutable_ring_specs(), FromProto), proto.max_lanes(),
          proto.max_transcriptions()};
}

v8::HelloAckW ToProto(const HelloAck& message) {
  v8::HelloAckW proto;
  proto.set_chosen_version(message.chosen_version);
  proto.set_engine_bundle_hash(ToWireBytes(message.engine_bundle_hash));
  proto.set_capabilities(ToUtf8(message.capabilities_json, kMaxCapabilitiesBytes));
  AddEach(message.state_space_descriptors, proto.mutable_state_space_descriptors());
  AddEach(message.registered_strategies, proto.mutable_registered_strategies());
  *proto.mutable_limits() = ToProto(message.limits);
  proto.set_kv_bits(message.kv_bits);
  proto.set_link_token(ToWireBytes(message.link_token));
  return proto;
}

HelloAck FromProto(v8::HelloAckW&& proto) {
  HelloAck message;
  message.chosen_version = ToVersion(proto.chosen_version());
  message.engine_bundle_hash = FromWireBytes<Hash>(proto.engine_bundle_hash());
  message.capabilities_json = std::move(*proto.mutable_capabilities());
  message.state_space_descriptors =
      ConvertEach<StateSpaceDescriptor>(*proto.mutable_state_space_descriptors(), FromProto);
  message.registered_strategies =
      ConvertEach<RegisteredStrategy>(*proto.mutable_registered_strategies(), FromProto);
  message.limits = FromProto(std::move(*proto.mutable_limits()));
  message.kv_bits = proto.kv_bits();
  message.link_token = FromWireBytes<LinkToken>(proto.link_token());
  return message;
}

v8::Error ToProto(const Error& message) {
  v8::Error proto;
  proto.set_status(ToProto(message.status));
  proto.set_message(MessageText(message.message));
  proto.set_detail(MessageText(message.detail));
  proto.set_fatal(message.fatal);
  return proto;
}

Error FromProto(v8::Error&& proto) {
  return {ErrorStatus(proto.status()), std::move(*proto.mutable_message()),
          std::move(*proto.mutable_detail()), proto.fatal()};
}

v8::Ping ToProto(const Ping& /*message*/) { return {}; }

Ping FromProto(v8::Ping&& /*proto*/) { return {}; }

v8::Pong ToProto(const Pong& message) {
  v8::Pong proto;
  proto.set_queue_depth(message.queue_depth);
  proto.set_open_ops(message.open_ops);
  proto.set_open_transcriptions(message.open_transcriptions);
  *proto.mutable_mem() = ToProto(message.mem);
  proto.set_engine_busy_us(message.engine_busy_us);
  proto.set_engine_state(static_cast<v8::EngineState>(message.engine_state));
  proto.set_engine_steps(message.engine_steps);
  proto.set_step_age_us(message.step_age_us);
  proto.set_uptime_ms(message.uptime_ms);
  proto.set_load_permille(message.load_permille);
  proto.set_observers(message.observers);
  proto.set_driver_pid(message.driver_pid);
  proto.set_driver_ms(message.driver_ms);
  return proto;
}

Pong FromProto(v8::Pong&& proto) {
  Pong message;
  message.queue_depth = proto.queue_depth();
  message.open_ops = proto.open_ops();
  message.open_transcriptions = proto.open_transcriptions();
  message.mem = FromProto(std::move(*proto.mutable_mem()));
  message.engine_busy_us = proto.engine_busy_us();
  message.engine_state = static_cast<EngineState>(proto.engine_state());
  message.engine_steps = proto.engine_steps();
  message.step_age_us = proto.step_age_us();
  message.uptime_ms = proto.uptime_ms();
  message.load_permille = proto.load_permille();
  message.observers = proto.observers();
  message.driver_pid = proto.driver_pid();
  message.driver_ms = proto.driver_ms();
  return message;
}

v8::DrainReq ToProto(const DrainRequest& message) {
  v8::DrainReq proto;
  proto.set_cancel_transcriptions(message.cancel_transcriptions);
  proto.set_deadline_ms(message.deadline_ms);
  proto.set_shut_down(message.shut_down);
  return proto;
}

DrainRequest FromProto(v8::DrainReq&& proto) {
  return {proto.cancel_transcriptions(), proto.deadline_ms(), proto.shut_down()};
}

v8::Drained ToProto(const Drained& message) {
  v8::Drained proto;
  proto.set_finished(message.finished);
  proto.set_cancelled(message.cancelled);
  return proto;
}

Drained FromProto(v8::Drained&& proto) { return {proto.finished(), proto.cancelled()}; }

v8::TelemetryCounter ToProto(const TelemetryCounter& counter) {
  v8::TelemetryCounter proto;
  proto.set_name(ToUtf8(counter.name, kMaxNameBytes));
  proto.set_value(counter.value);
  return proto;
}

TelemetryCounter FromProto(v8::TelemetryCounter&& proto) {
  return {std::move(*proto.mutable_name()), proto.value()};
}

v8::Telemetry ToProto(const Telemetry& message) {
  v8::Telemetry proto;
  AddEach(message.counters, proto.mutable_counters());
  return proto;
}

Telemetry FromProto(v8::Telemetry&& proto) {
  return {ConvertEach<TelemetryCounter>(*proto.mutable_counters(), FromProto)};
}

}  // namespace superfluid::linkw
