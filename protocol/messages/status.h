#ifndef SUPERFLUID_PROTOCOL_MESSAGES_STATUS_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_STATUS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"

namespace superfluid::linkw {

// What a reply or an ERROR frame says on the wire. The numbers are the protocol's: never reused,
// never renumbered. Each maps onto one absl::StatusCode (ToAbslCode); several share a code, so an
// absl::Status made by MakeStatus carries the exact value along as a payload.
enum class Status : uint32_t {
  kOk = 0,
  kBusy = 1,                    // a window or a slot is full, or there is a driver: try again later
  kUnknownHandle = 2,           // no such buffer, sequence, grammar, op, strategy ...
  kRejectBadRefGeneration = 3,  // a ring span is stale: its slot was rewritten
  kEnvelopeMismatch = 4,        // sealed state is damaged, or belongs to another engine
  kCancelled = 5,
  kDeadlineExceeded = 6,
  kOutOfMemory = 7,          // of the host or of the accelerator
  kUnsupported = 8,          // the engine lacks this call, option or language
  kInvalidArgument = 9,      // the request itself is wrong; it would fail again
  kFailedPrecondition = 10,  // right request, wrong moment: a tick before the rings are attached
  kDraining = 11,            // the worker takes no new work
  kEngineFailed = 12,        // the engine broke; it is not healthy any more
  kEngineStalled = 13,       // the engine is inside one step for too long
  kNotFound = 14,            // a file or a lane that does not exist
  kPermissionDenied = 15,    // outside a root folder, another user, an observer that wants to drive
  kVersionMismatch = 16,     // no common version, or a frame of another version
  kProtocolError = 17,       // a link error: what the peer sent cannot be believed; the link closes
  kInternal = 18,
  kUnimplemented = 19,  // a message type that this side does not know
  kLinkClosed = 20,     // the link ended before the answer came; never on the wire
  kTooLarge = 21,       // the answer does not fit into a frame
};

// "INVALID_ARGUMENT"; "UNKNOWN" for a value outside the enum.
std::string_view StatusName(Status status);

// The status that `wire_value` stands for; a value that this version does not know (a newer peer)
// is kInternal, so that an error never becomes an OK.
Status StatusFromWire(uint32_t wire_value);

absl::StatusCode ToAbslCode(Status status);

// An absl::Status with ToAbslCode's code, `message`, and `status` itself as a payload. For kOk the
// message is dropped and the result is OkStatus.
absl::Status MakeStatus(Status status, std::string_view message);

// The error of whatever is open on a link that ended: kLinkClosed, and `last_words`, the status of
// the fatal ERROR that the other side sent before.
absl::Status LinkClosedAfter(Status last_words, std::string_view message);

// What LinkClosedAfter put in; nullopt for any other status.
std::optional<Status> LastWords(const absl::Status& status);

// The wire status of any absl::Status: the one that MakeStatus put in, else the closest to its
// code.
Status FromAbsl(const absl::Status& status);

// True for errors after which the link must close: what was received cannot
// be believed. All other errors concern one request, and the link stays.
bool IsLinkError(const absl::Status& status);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_STATUS_H_
