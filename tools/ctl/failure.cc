#include "tools/ctl/failure.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "protocol/text.h"
#include "tools/ctl/plain_text.h"

namespace superfluid::ctl {
namespace {

using linkw::AbslView;

std::string StartAdvice(const std::string& socket_path) {
  return absl::StrCat("start one with: superfluid_worker --engine pocketsphinx --listen ",
                      socket_path);
}

std::string RequestAdvice(linkw::Status status) {
  switch (status) {
    case linkw::Status::kBusy:
      return "the worker has as many requests as it takes: try again when one has ended "
             "('superfluidctl ping' shows them)";
    case linkw::Status::kNotFound:
      return "the worker opens the file itself; with --inline it is sent the file's bytes instead";
    case linkw::Status::kPermissionDenied:
      return "the worker reads only below its --media-root; with --inline it is sent the file's "
             "bytes instead";
    case linkw::Status::kUnsupported:
      return "'superfluidctl info' shows what this engine can do";
    case linkw::Status::kDraining:
      return "the worker is shutting down and takes no new work";
    case linkw::Status::kEngineFailed:
    case linkw::Status::kEngineStalled:
      return "the worker has to be restarted; its log says more";
    case linkw::Status::kTooLarge:
      return "with --stream the segments come one by one";
    case linkw::Status::kLinkClosed:
      return "the worker's log says why; is it still running?";
    default:
      return "";
  }
}

ExitCode RequestExitCode(linkw::Status status) {
  switch (status) {
    case linkw::Status::kOk:
      return ExitCode::kOk;
    case linkw::Status::kDeadlineExceeded:
      return ExitCode::kDeadline;
    case linkw::Status::kLinkClosed:
    case linkw::Status::kProtocolError:
      return ExitCode::kNoLink;
    default:
      return ExitCode::kFailed;
  }
}

// BUSY as the answer to a driver's HELLO. (A plain Unavailable also counts as kBusy in FromAbsl,
// but means that nobody listens.)
bool IsAnotherDriver(const absl::Status& status) {
  return status.code() == absl::StatusCode::kResourceExhausted &&
         linkw::FromAbsl(status) == linkw::Status::kBusy;
}

bool IsNobodyThere(const absl::Status& status) {
  return status.code() == absl::StatusCode::kNotFound ||
         (status.code() == absl::StatusCode::kUnavailable &&
          linkw::FromAbsl(status) == linkw::Status::kBusy);
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

}  // namespace

std::string FailureLine(const Failure& failure) {
  std::string line = absl::StrCat("superfluidctl: ", OneLine(failure.what));
  if (!failure.advice.empty()) {
    absl::StrAppend(&line, line.back() == '?' ? " " : "; ", OneLine(failure.advice));
  }
  line.push_back('\n');
  return line;
}

Failure UsageFailure(const std::string& what) {
  return {.code = ExitCode::kUsage, .what = what, .advice = "see --help"};
}

Failure LocalFailure(const absl::Status& status) {
  return {.code = ExitCode::kFailed, .what = Message(status), .advice = ""};
}

Failure ConnectFailure(const absl::Status& status, const std::string& socket_path) {
  const std::string what = absl::StrCat("cannot connect to ", socket_path, ": ", Message(status));
  if (IsAnotherDriver(status)) {
    return {.code = ExitCode::kFailed,
            .what = what,
            .advice =
                "one client at a time drives a worker: wait for the other one, or see what "
                "it does with 'superfluidctl ping'"};
  }
  if (IsNobodyThere(status)) {
    return {.code = ExitCode::kNoLink, .what = what, .advice = StartAdvice(socket_path)};
  }
  switch (linkw::FromAbsl(status)) {
    case linkw::Status::kVersionMismatch:
      return {.code = ExitCode::kFailed,
              .what = what,
              .advice = "use the superfluidctl that came with the worker"};
    case linkw::Status::kPermissionDenied:
      return {.code = ExitCode::kFailed,
              .what = what,
              .advice =
                  "the worker takes connections of its own user only, unless its "
                  "--allow-uid says otherwise"};
    case linkw::Status::kDraining:
      return {.code = ExitCode::kFailed,
              .what = what,
              .advice = RequestAdvice(linkw::Status::kDraining)};
    case linkw::Status::kLinkClosed:
      return {.code = ExitCode::kNoLink,
              .what = what,
              .advice = RequestAdvice(linkw::Status::kLinkClosed)};
    default:
      return {.code = ExitCode::kNoLink, .what = what, .advice = "is it a worker's socket?"};
  }
}

Failure CallFailure(const std::string& what, const absl::Status& status) {
  return RequestFailure(what, linkw::FromAbsl(status), Message(status));
}

Failure RequestFailure(const std::string& what, linkw::Status status, const std::string& message) {
  const std::string_view name = linkw::StatusName(status);
  return {.code = RequestExitCode(status),
          .what = absl::StrCat(what, ": ", AbslView(name), message.empty() ? "" : ": ", message),
          .advice = RequestAdvice(status)};
}

}  // namespace superfluid::ctl
