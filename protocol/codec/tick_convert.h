#ifndef SUPERFLUID_PROTOCOL_CODEC_TICK_CONVERT_H_
#define SUPERFLUID_PROTOCOL_CODEC_TICK_CONVERT_H_

#include "protocol/linkw.pb.h"
#include "protocol/messages/tick_messages.h"

namespace superfluid::linkw {

v8::TickSubmit ToProto(const TickSubmit& message);
TickSubmit FromProto(v8::TickSubmit&& proto);

v8::TickResult ToProto(const TickResult& message);
TickResult FromProto(v8::TickResult&& proto);

v8::TickEmit ToProto(const TickEmit& message);
TickEmit FromProto(v8::TickEmit&& proto);

// Of the elements of the above, for their lists.
v8::Lane ToProto(const Lane& lane);
Lane FromProto(v8::Lane&& proto);
v8::LaneEvent ToProto(const LaneEvent& event);
LaneEvent FromProto(v8::LaneEvent&& proto);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_TICK_CONVERT_H_
