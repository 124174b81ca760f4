#ifndef SUPERFLUID_PROTOCOL_CODEC_MEMORY_CONVERT_H_
#define SUPERFLUID_PROTOCOL_CODEC_MEMORY_CONVERT_H_

#include "protocol/linkw.pb.h"
#include "protocol/messages/memory_messages.h"

namespace superfluid::linkw {

v8::RingSpec ToProto(const RingSpec& spec);
RingSpec FromProto(v8::RingSpec&& proto);

v8::RingAttach ToProto(const RingAttach& message);
RingAttach FromProto(v8::RingAttach&& proto);

v8::RingAck ToProto(const RingAck& message);
RingAck FromProto(v8::RingAck&& proto);

v8::ControlAttach ToProto(const ControlAttach& message);
ControlAttach FromProto(v8::ControlAttach&& proto);

v8::ControlAck ToProto(const ControlAck& message);
ControlAck FromProto(v8::ControlAck&& proto);

v8::BufAlloc ToProto(const BufAlloc& message);
BufAlloc FromProto(v8::BufAlloc&& proto);

v8::BufAlloced ToProto(const BufAlloced& message);
BufAlloced FromProto(v8::BufAlloced&& proto);

v8::BufAttach ToProto(const BufAttach& message);
BufAttach FromProto(v8::BufAttach&& proto);

v8::BufRelease ToProto(const BufRelease& message);
BufRelease FromProto(v8::BufRelease&& proto);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_MEMORY_CONVERT_H_
