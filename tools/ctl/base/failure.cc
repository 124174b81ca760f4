#include "tools/ctl/base/failure.h"

#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "protocol/messages/text.h"
#include "tools/ctl/formats/plain_text.h"

namespace superfluid::ctl {
namespace {

using linkw::AbslView;

std::string StartAdvice(const std::string& socket_path) {
  return absl::StrCat("start one with: superfluid_worker --engine NAME --listen ", socket_path);
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
      return "the worker finishes what is open, takes no new work and ends: start another one";
    case linkw::Status::kEngineFailed:
      return "the worker's log says more, and 'superfluidctl ping' whether it still works";
    case linkw::Status::kEngineStalled:
      return "if this lasts, the worker has to be restarted; its log says more";
    case linkw::Status::kTooLarge:
      return "with --stream the segments come one by one";
    case linkw::Status::kLinkClosed:
      return "the worker's log says why; is it still running?";
    default:
      return "";
  }
}

// After the link was closed with this word.
std::string LastAdvice(linkw::Status last_words) {
  switch (last_words) {
    case linkw::Status::kDraining:
    case linkw::Status::kEngineFailed:
    case linkw::Status::kEngineStalled:
      return RequestAdvice(last_words);
    default:
      return RequestAdvice(linkw::Status::kLinkClosed);
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

bool IsNobodyThere(const absl::Status& status) {
  return status.code() == absl::StatusCode::kNotFound ||
         (status.code() == absl::StatusCode::kUnavailable &&
          linkw::FromAbsl(status) == linkw::Status::kBusy);
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// The status that counts: a worker that ends a link says why, then closes it.
linkw::Status StatusOf(const absl::Status& status) {
  return linkw::LastWords(status).value_or(linkw::FromAbsl(status));
}

// Without a beginning that says the status once more: "cancelled: the worker is draining".
std::string_view WithoutStatus(std::string_view message, std::string_view name) {
  const std::string said = absl::StrCat(absl::StrReplaceAll(AbslView(name), {{"_", " "}}), ": ");
  return absl::StartsWithIgnoreCase(AbslView(message), said) ? message.substr(said.size())
                                                             : message;
}

}  // namespace

// As the answer to a driver's HELLO. (A plain Unavailable also counts as kBusy in FromAbsl, but
// means that nobody listens.)
bool IsAnotherDriver(const absl::Status& status) {
  return StatusOf(status) == linkw::Status::kBusy && !IsNobodyThere(status);
}

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
                "one client at a time drives a worker: --wait waits for the other one, up to "
                "--timeout; 'superfluidctl ping' shows what it does"};
  }
  if (IsNobodyThere(status)) {
    return {.code = ExitCode::kNoLink, .what = what, .advice = StartAdvice(socket_path)};
  }
  switch (StatusOf(status)) {
    case linkw::Status::kVersionMismatch:
      return {.code = ExitCode::kFailed,
              .what = what,
              .advice = "use the superfluidctl that came with the worker"};
    case linkw::Status::kPermissionDenied:
      return {.code = ExitCode::kFailed,
              .what = what,
              .advice =
                  "the worker takes connections of its own user and of those that its --allow-uid "
                  "names; they also need the right to enter the socket's folder"};
    case linkw::Status::kDraining:
      return {.code = ExitCode::kFailed,
              .what = what,
              .advice = RequestAdvice(linkw::Status::kDraining)};
    case linkw::Status::kDeadlineExceeded:
      return {.code = ExitCode::kNoLink,
              .what = what,
              .advice =
                  "something listens there but does not answer: a worker that is stopped, or "
                  "no worker at all"};
    case linkw::Status::kLinkClosed:
    case linkw::Status::kInternal:
      return {.code = ExitCode::kNoLink,
              .what = what,
              .advice = RequestAdvice(linkw::Status::kLinkClosed)};
    default:
      return {.code = ExitCode::kNoLink, .what = what, .advice = "is it a worker's socket?"};
  }
}

Failure CallFailure(const std::string& what, const absl::Status& status) {
  Failure failure = RequestFailure(what, linkw::FromAbsl(status), Message(status));
  if (linkw::LastWords(status)) failure.advice = LastAdvice(StatusOf(status));
  return failure;
}

Failure RequestFailure(const std::string& what, linkw::Status status, const std::string& message) {
  const std::string_view name = linkw::StatusName(status);
  return {.code = RequestExitCode(status),
          .what = absl::StrCat(what, ": ", AbslView(name), message.empty() ? "" : ": ",
                               AbslView(WithoutStatus(message, name))),
          .advice = RequestAdvice(status)};
}

}  // namespace superfluid::ctl
