#ifndef SUPERFLUID_PROTOCOL_CODEC_STATE_SYNC_CONVERT_H_
#define SUPERFLUID_PROTOCOL_CODEC_STATE_SYNC_CONVERT_H_

#include "absl/status/statusor.h"
#include "protocol/linkw.pb.h"
#include "protocol/messages/state_sync_messages.h"

namespace superfluid::linkw {

v8::StateSyncReq ToProto(const StateSyncRequest& message);
// kUnsupported: no call that this version knows. kInvalidArgument: parts that do not fit together.
absl::StatusOr<StateSyncRequest> FromProto(v8::StateSyncReq&& proto);

v8::StateSyncRes ToProto(const StateSyncResult& message);
// kInvalidArgument: kOk without a reply that this version knows.
absl::StatusOr<StateSyncResult> FromProto(v8::StateSyncRes&& proto);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_STATE_SYNC_CONVERT_H_
