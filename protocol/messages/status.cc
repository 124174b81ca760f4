#include "protocol/messages/status.h"

#include <array>
#include <optional>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace superfluid::linkw {
namespace {

constexpr absl::string_view kPayloadUrl = "superfluid/linkw.status";
constexpr absl::string_view kLastWordsUrl = "superfluid/linkw.last_words";

struct Row {
  Status status;
  std::string_view name;
  absl::StatusCode code;
};

// In the order of the enum.
constexpr std::array kRows = {
    Row{Status::kOk, "OK", absl::StatusCode::kOk},
    Row{Status::kBusy, "BUSY", absl::StatusCode::kResourceExhausted},
    Row{Status::kUnknownHandle, "UNKNOWN_HANDLE", absl::StatusCode::kNotFound},
    Row{Status::kRejectBadRefGeneration, "REJECT_BAD_REF_GENERATION", absl::StatusCode::kAborted},
    Row{Status::kEnvelopeMismatch, "ENVELOPE_MISMATCH", absl::StatusCode::kDataLoss},
    Row{Status::kCancelled, "CANCELLED", absl::StatusCode::kCancelled},
    Row{Status::kDeadlineExceeded, "DEADLINE_EXCEEDED", absl::StatusCode::kDeadlineExceeded},
    Row{Status::kOutOfMemory, "OUT_OF_MEMORY", absl::StatusCode::kResourceExhausted},
    Row{Status::kUnsupported, "UNSUPPORTED", absl::StatusCode::kUnimplemented},
    Row{Status::kInvalidArgument, "INVALID_ARGUMENT", absl::StatusCode::kInvalidArgument},
    Row{Status::kFailedPrecondition, "FAILED_PRECONDITION", absl::StatusCode::kFailedPrecondition},
    Row{Status::kDraining, "DRAINING", absl::StatusCode::kUnavailable},
    Row{Status::kEngineFailed, "ENGINE_FAILED", absl::StatusCode::kInternal},
    Row{Status::kEngineStalled, "ENGINE_STALLED", absl::StatusCode::kUnavailable},
    Row{Status::kNotFound, "NOT_FOUND", absl::StatusCode::kNotFound},
    Row{Status::kPermissionDenied, "PERMISSION_DENIED", absl::StatusCode::kPermissionDenied},
    Row{Status::kVersionMismatch, "VERSION_MISMATCH", absl::StatusCode::kFailedPrecondition},
    Row{Status::kProtocolError, "PROTOCOL_ERROR", absl::StatusCode::kDataLoss},
    Row{Status::kInternal, "INTERNAL", absl::StatusCode::kInternal},
    Row{Status::kUnimplemented, "UNIMPLEMENTED", absl::StatusCode::kUnimplemented},
    Row{Status::kLinkClosed, "LINK_CLOSED", absl::StatusCode::kUnavailable},
    Row{Status::kTooLarge, "TOO_LARGE", absl::StatusCode::kOutOfRange},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].status) != i) return false;
  }
  return true;
}
static_assert(InOrder());

const Row* RowOf(Status status) {
  const auto index = static_cast<size_t>(status);
  return index < kRows.size() ? &kRows[index] : nullptr;
}

Status DefaultFor(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return Status::kOk;
    case absl::StatusCode::kCancelled:
      return Status::kCancelled;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kDataLoss:
      return Status::kInvalidArgument;
    case absl::StatusCode::kDeadlineExceeded:
      return Status::kDeadlineExceeded;
    case absl::StatusCode::kNotFound:
      return Status::kNotFound;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return Status::kPermissionDenied;
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnavailable:
      return Status::kBusy;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
      return Status::kFailedPrecondition;
    case absl::StatusCode::kUnimplemented:
      return Status::kUnsupported;
    default:
      return Status::kInternal;
  }
}

void SetStatus(absl::Status& status, absl::string_view url, Status value) {
  status.SetPayload(url, absl::Cord(std::to_string(static_cast<uint32_t>(value))));
}

std::optional<Status> PayloadOf(const absl::Status& status, absl::string_view url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  uint32_t value = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &value)) return std::nullopt;
  return StatusFromWire(value);
}

}  // namespace

std::string_view StatusName(Status status) {
  const Row* row = RowOf(status);
  return row == nullptr ? std::string_view("UNKNOWN") : row->name;
}

Status StatusFromWire(uint32_t wire_value) {
  const auto status = static_cast<Status>(wire_value);
  return RowOf(status) == nullptr ? Status::kInternal : status;
}

absl::StatusCode ToAbslCode(Status status) {
  const Row* row = RowOf(status);
  return row == nullptr ? absl::StatusCode::kInternal : row->code;
}

absl::Status MakeStatus(Status status, std::string_view message) {
  absl::Status result(ToAbslCode(status), absl::string_view(message.data(), message.size()));
  if (!result.ok()) SetStatus(result, kPayloadUrl, status);
  return result;
}

absl::Status LinkClosedAfter(Status last_words, std::string_view message) {
  absl::Status result = MakeStatus(Status::kLinkClosed, message);
  SetStatus(result, kLastWordsUrl, last_words);
  return result;
}

std::optional<Status> LastWords(const absl::Status& status) {
  return PayloadOf(status, kLastWordsUrl);
}

Status FromAbsl(const absl::Status& status) {
  if (status.ok()) return Status::kOk;
  return PayloadOf(status, kPayloadUrl).value_or(DefaultFor(status.code()));
}

bool IsLinkError(const absl::Status& status) {
  const Status wire = FromAbsl(status);
  return wire == Status::kProtocolError || wire == Status::kVersionMismatch;
}

}  // namespace superfluid::linkw
