#ifndef SUPERFLUID_PROTOCOL_MESSAGES_STATE_OP_MESSAGES_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_STATE_OP_MESSAGES_H_

#include <cstdint>
#include <string>
#include <variant>

#include "protocol/messages/ids.h"
#include "protocol/messages/status.h"

// State ops: copies of engine state between the accelerator and attached buffers.
namespace superfluid::linkw {

// Token positions [start, end).
struct TokenRange {
  uint64_t start = 0;
  uint64_t end = 0;
  bool operator==(const TokenRange&) const = default;
};

struct Snapshot {
  SequenceId sequence{};
  SpaceId space_id{};
  uint64_t boundary_pos = 0;
  BufId buf_id{};
  uint64_t sizing_gen = 0;
  bool operator==(const Snapshot&) const = default;
};

struct Demote {
  SequenceId sequence{};
  SpaceId space_id{};
  TokenRange range;
  uint32_t encoding = 0;
  BufId buf_id{};
  uint64_t sizing_gen = 0;
  bool operator==(const Demote&) const = default;
};

struct Restore {
  SequenceId sequence{};
  SpaceId space_id{};
  BufId buf_id{};
  bool operator==(const Restore&) const = default;
};

struct Promote {
  SequenceId sequence{};
  SpaceId space_id{};
  TokenRange range;
  BufId buf_id{};
  bool operator==(const Promote&) const = default;
};

using StateOp = std::variant<Snapshot, Demote, Restore, Promote>;

struct StateOpSubmit {
  StateOp op;
  bool operator==(const StateOpSubmit&) const = default;
};

struct StateOpAccepted {
  Status status = Status::kOk;  // else the op was refused and has no handle
  std::string message;
  OpHandle op_handle{};
  bool operator==(const StateOpAccepted&) const = default;
};

enum class OpState : uint8_t { kDone = 1, kFailed = 2, kCancelled = 3 };

// Exactly one per accepted op. Correlation is the submit's seq.
struct StateOpDone {
  OpHandle op_handle{};
  OpState state = OpState::kDone;
  Status error = Status::kOk;
  std::string message;
  uint64_t bytes_moved = 0;
  bool operator==(const StateOpDone&) const = default;
};

// Idempotent; no reply of its own.
struct OpCancel {
  OpHandle op_handle{};
  bool operator==(const OpCancel&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_STATE_OP_MESSAGES_H_
