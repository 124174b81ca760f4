#ifndef SUPERFLUID_PROTOCOL_MESSAGES_SEQUENCE_CALLS_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_SEQUENCE_CALLS_H_

#include <cstdint>

#include "protocol/messages/ids.h"
#include "protocol/messages/state_op_messages.h"

// State sync calls about sequences.
namespace superfluid::linkw {

struct Fork {
  SequenceId parent{};
  uint32_t flags = 0;
  bool operator==(const Fork&) const = default;
};
struct ForkResult {
  SequenceId child{};
  bool operator==(const ForkResult&) const = default;
};

struct Trim {
  SequenceId sequence{};
  SpaceId space_id{};
  uint64_t new_len = 0;
  bool operator==(const Trim&) const = default;
};
struct TrimResult {
  bool operator==(const TrimResult&) const = default;
};

struct ExportSize {
  SequenceId sequence{};
  SpaceId space_id{};
  TokenRange range;
  uint32_t encoding = 0;
  bool operator==(const ExportSize&) const = default;
};
struct ExportSizeResult {
  uint64_t required_bytes = 0;
  uint64_t sizing_gen = 0;
  bool operator==(const ExportSizeResult&) const = default;
};

struct SnapshotBoundary {
  SequenceId sequence{};
  SpaceId space_id{};
  uint64_t cap = 0;
  bool operator==(const SnapshotBoundary&) const = default;
};
struct SnapshotBoundaryResult {
  uint64_t boundary = 0;
  bool operator==(const SnapshotBoundaryResult&) const = default;
};

struct LaneSequence {
  LaneTag lane_tag{};
  bool operator==(const LaneSequence&) const = default;
};
struct LaneSequenceResult {
  SequenceId sequence{};
  bool operator==(const LaneSequenceResult&) const = default;
};

struct CreateSequence {
  bool operator==(const CreateSequence&) const = default;
};
struct CreateSequenceResult {
  SequenceId sequence{};
  bool operator==(const CreateSequenceResult&) const = default;
};

struct FreeSequence {
  SequenceId sequence{};
  bool operator==(const FreeSequence&) const = default;
};
struct FreeSequenceResult {
  bool operator==(const FreeSequenceResult&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_SEQUENCE_CALLS_H_
