#ifndef SUPERFLUID_TOOLS_CTL_BASE_FAILURE_H_
#define SUPERFLUID_TOOLS_CTL_BASE_FAILURE_H_

#include <string>

#include "absl/status/status.h"
#include "protocol/messages/status.h"
#include "tools/ctl/base/exit_code.h"

namespace superfluid::ctl {

// Why a command failed, as it is told to the user.
struct Failure {
  ExitCode code = ExitCode::kFailed;
  std::string what;
  std::string advice;  // what to do about it; may be empty
};

// "superfluidctl: WHAT; ADVICE" and a line break, on one line whatever the texts contain.
std::string FailureLine(const Failure& failure);

Failure UsageFailure(const std::string& what);

// A local file, or our own memory.
Failure LocalFailure(const absl::Status& status);

// Whether LinkClient::Connect failed because another client drives the worker. That passes.
bool IsAnotherDriver(const absl::Status& status);

// From LinkClient::Connect. `socket_path` is for the advice.
Failure ConnectFailure(const absl::Status& status, const std::string& socket_path);

// From a call over a link that stands. `what` was being done: "ping", or a file.
Failure CallFailure(const std::string& what, const absl::Status& status);

// A request that the worker answered with `status`, which is not kOk.
Failure RequestFailure(const std::string& what, linkw::Status status, const std::string& message);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_FAILURE_H_
