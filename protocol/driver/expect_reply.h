#ifndef SUPERFLUID_PROTOCOL_DRIVER_EXPECT_REPLY_H_
#define SUPERFLUID_PROTOCOL_DRIVER_EXPECT_REPLY_H_

#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"
#include "protocol/messages/text.h"

namespace superfluid::linkw {

// The status of an ERROR frame that came as an answer.
inline absl::Status ErrorStatus(const Error& error) {
  return MakeStatus(error.status, error.detail.empty()
                                      ? error.message
                                      : absl::StrCat(error.message, " (", error.detail, ")"));
}

// An answer as the T that it should be. Errors: the answer's own, an ERROR frame's, kInternal (the
// worker answered with something else).
template <typename T>
absl::StatusOr<T> ExpectReply(absl::StatusOr<WorkerMessage> answer) {
  if (!answer.ok()) return answer.status();
  if (auto* expected = std::get_if<T>(&*answer)) return std::move(*expected);
  if (const auto* error = std::get_if<Error>(&*answer)) return ErrorStatus(*error);
  return MakeStatus(Status::kInternal, absl::StrCat("the worker's answer is a ",
                                                    AbslView(MessageTypeName(TypeOf(*answer)))));
}

// The reply of a state sync call (LinkClient::Call) as the T that it should be. Errors: the call's
// own, kInternal (the reply to another call).
template <typename T>
absl::StatusOr<T> ExpectResult(absl::StatusOr<StateSyncReply> reply) {
  if (!reply.ok()) return reply.status();
  if (auto* expected = std::get_if<T>(&*reply)) return std::move(*expected);
  return MakeStatus(Status::kInternal, "the worker answered another state call");
}

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_DRIVER_EXPECT_REPLY_H_
