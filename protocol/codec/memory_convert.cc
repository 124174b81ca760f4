#include "protocol/codec/memory_convert.h"

#include <utility>

#include "protocol/codec/convert_common.h"

namespace superfluid::linkw {

v8::RingSpec ToProto(const RingSpec& spec) {
  v8::RingSpec proto;
  proto.set_ring_id(Raw(spec.ring_id));
  proto.set_kind(static_cast<v8::RingKind>(spec.kind));
  proto.set_slot_bytes(spec.slot_bytes);
  proto.set_slots(spec.slots);
  return proto;
}

RingSpec FromProto(v8::RingSpec&& proto) {
  return {RingId{proto.ring_id()}, static_cast<RingKind>(proto.kind()), proto.slot_bytes(),
          proto.slots()};
}

v8::RingAttach ToProto(const RingAttach& message) {
  v8::RingAttach proto;
  proto.set_ring_id(Raw(message.ring_id));
  *proto.mutable_layout() = ToProto(message.layout);
  return proto;
}

RingAttach FromProto(v8::RingAttach&& proto) {
  return {RingId{proto.ring_id()}, FromProto(std::move(*proto.mutable_layout()))};
}

v8::RingAck ToProto(const RingAck& message) {
  v8::RingAck proto;
  proto.set_ring_id(Raw(message.ring_id));
  proto.set_generation_base(message.generation_base);
  return proto;
}

RingAck FromProto(v8::RingAck&& proto) {
  return {RingId{proto.ring_id()}, proto.generation_base()};
}

v8::ControlAttach ToProto(const ControlAttach& message) {
  v8::ControlAttach proto;
  proto.set_bytes(message.bytes);
  return proto;
}

ControlAttach FromProto(v8::ControlAttach&& proto) { return {proto.bytes()}; }

v8::ControlAck ToProto(const ControlAck& message) {
  v8::ControlAck proto;
  proto.set_bytes(message.bytes);
  return proto;
}

ControlAck FromProto(v8::ControlAck&& proto) { return {proto.bytes()}; }

v8::BufAlloc ToProto(const BufAlloc& message) {
  v8::BufAlloc proto;
  proto.set_buf_id(Raw(message.buf_id));
  proto.set_len(message.len);
  return proto;
}

BufAlloc FromProto(v8::BufAlloc&& proto) { return {BufId{proto.buf_id()}, proto.len()}; }

v8::BufAlloced ToProto(const BufAlloced& message) {
  v8::BufAlloced proto;
  proto.set_status(ToProto(message.status));
  proto.set_message(MessageText(message.message));
  proto.set_buf_id(Raw(message.buf_id));
  proto.set_len(message.len);
  return proto;
}

BufAlloced FromProto(v8::BufAlloced&& proto) {
  return {FromProto(proto.status()), std::move(*proto.mutable_message()), BufId{proto.buf_id()},
          proto.len()};
}

v8::BufAttach ToProto(const BufAttach& message) {
  v8::BufAttach proto;
  proto.set_buf_id(Raw(message.buf_id));
  proto.set_len(message.len);
  return proto;
}

BufAttach FromProto(v8::BufAttach&& proto) { return {BufId{proto.buf_id()}, proto.len()}; }

v8::BufRelease ToProto(const BufRelease& message) {
  v8::BufRelease proto;
  proto.set_buf_id(Raw(message.buf_id));
  return proto;
}

BufRelease FromProto(v8::BufRelease&& proto) { return {BufId{proto.buf_id()}}; }

}  // namespace superfluid::linkw
