// State calls about sequences and the prefix cache.

#include <utility>

#include "absl/strings/str_cat.h"
#include "actors/engine/call_run.h"

namespace superfluid {
namespace {

SequenceHandle ToEngine(linkw::SequenceId id) { return SequenceHandle{static_cast<uint64_t>(id)}; }
SpaceId ToEngine(linkw::SpaceId id) { return SpaceId{static_cast<uint32_t>(id)}; }

}  // namespace

CallRun::Reply CallRun::Call(const linkw::Fork& call) {
  if (absl::Status known = CheckSequence(call.parent); !known.ok()) return known;
  if (absl::Status room = link_.handles.CheckRoom(HandleKind::kSequence); !room.ok()) return room;
  const absl::StatusOr<SequenceHandle> child = generation_->Fork(ToEngine(call.parent), call.flags);
  if (!child.ok()) return child.status();
  const auto id = static_cast<uint64_t>(*child);
  if (absl::Status kept = Keep(HandleKind::kSequence, id); !kept.ok()) return kept;
  if (link_.maybe_empty.contains(static_cast<uint64_t>(call.parent))) link_.maybe_empty.insert(id);
  return linkw::ForkResult{linkw::SequenceId{id}};
}

CallRun::Reply CallRun::Call(const linkw::Trim& call) {
  if (absl::Status known = CheckSequence(call.sequence); !known.ok()) return known;
  const absl::Status trimmed =
      generation_->Trim(ToEngine(call.sequence), ToEngine(call.space_id), call.new_len);
  if (!trimmed.ok()) return trimmed;
  link_.demoted.Trim(ToEngine(call.sequence), ToEngine(call.space_id), call.new_len);
  if (call.new_len == 0) link_.maybe_empty.insert(static_cast<uint64_t>(call.sequence));
  return linkw::TrimResult{};
}

CallRun::Reply CallRun::Call(const linkw::ExportSize& call) {
  if (absl::Status known = CheckSequence(call.sequence); !known.ok()) return known;
  if (call.range.start > call.range.end) {
    return absl::InvalidArgumentError("the token range ends before it starts");
  }
  const absl::StatusOr<ExportSize> size =
      generation_->SizeOfExport(ToEngine(call.sequence), ToEngine(call.space_id),
                                {call.range.start, call.range.end}, call.encoding);
  if (!size.ok()) return size.status();
  return linkw::ExportSizeResult{.required_bytes = size->bytes, .sizing_gen = size->sizing_gen};
}

CallRun::Reply CallRun::Call(const linkw::SnapshotBoundary& call) {
  if (absl::Status known = CheckSequence(call.sequence); !known.ok()) return known;
  const absl::StatusOr<uint64_t> boundary =
      generation_->SnapshotBoundary(ToEngine(call.sequence), ToEngine(call.space_id), call.cap);
  if (!boundary.ok()) return boundary.status();
  return linkw::SnapshotBoundaryResult{*boundary};
}

CallRun::Reply CallRun::Call(const linkw::LaneSequence& call) {
  const absl::StatusOr<SequenceHandle> sequence =
      generation_->LaneSequence(LaneTag{static_cast<uint64_t>(call.lane_tag)});
  const uint64_t id = sequence.ok() ? static_cast<uint64_t>(*sequence) : 0;
  // One that was freed since is not named any more. A lane's tag is no handle: not found.
  const bool freed = sequence.ok() && !link_.handles.Knows(HandleKind::kSequence, id);
  if (freed || absl::IsNotFound(sequence.status())) {
    return linkw::MakeStatus(linkw::Status::kNotFound,
                             absl::StrCat("the lane ", static_cast<uint64_t>(call.lane_tag),
                                          " has worked on no sequence that exists"));
  }
  if (!sequence.ok()) return sequence.status();
  return linkw::LaneSequenceResult{linkw::SequenceId{id}};
}

CallRun::Reply CallRun::Call(const linkw::CreateSequence& /*call*/) {
  if (absl::Status room = link_.handles.CheckRoom(HandleKind::kSequence); !room.ok()) return room;
  const absl::StatusOr<SequenceHandle> sequence = generation_->CreateSequence();
  if (!sequence.ok()) return sequence.status();
  const auto id = static_cast<uint64_t>(*sequence);
  if (absl::Status kept = Keep(HandleKind::kSequence, id); !kept.ok()) return kept;
  link_.maybe_empty.insert(id);
  return linkw::CreateSequenceResult{linkw::SequenceId{id}};
}

CallRun::Reply CallRun::Call(const linkw::FreeSequence& call) {
  if (absl::Status known = CheckSequence(call.sequence); !known.ok()) return known;
  const absl::Status freed = generation_->FreeSequence(ToEngine(call.sequence));
  if (!freed.ok()) return freed;
  link_.handles.Remove(HandleKind::kSequence, static_cast<uint64_t>(call.sequence));
  link_.maybe_empty.erase(static_cast<uint64_t>(call.sequence));
  link_.demoted.Forget(ToEngine(call.sequence));
  return linkw::FreeSequenceResult{};
}

CallRun::Reply CallRun::Call(const linkw::CacheEvict& call) {
  const absl::StatusOr<uint64_t> freed = generation_->EvictCache(
      call.bytes_target, {.classes = call.policy.evictable_classes,
                          .protected_bytes = call.policy.protected_quota_bytes,
                          .max_bytes = call.policy.max_evict_bytes});
  if (!freed.ok()) return freed.status();
  return linkw::CacheEvictResult{*freed};
}

CallRun::Reply CallRun::Call(const linkw::CacheEvictEntries& call) {
  std::vector<CacheKey> keys;
  keys.reserve(call.keys.size());
  for (const linkw::CacheKey& key : call.keys) {
    keys.push_back({.compat_key = key.compat_key, .provenance = key.provenance_digest});
  }
  const absl::Status evicted = generation_->EvictEntries(keys);
  if (!evicted.ok()) return evicted;
  return linkw::CacheEvictEntriesResult{};
}

CallRun::Reply CallRun::Call(const linkw::AdoptSequence& call) {
  if (absl::Status known = CheckSequence(call.sequence); !known.ok()) return known;
  const absl::StatusOr<std::vector<Token>> tokens = ReadTokens(call.span);
  if (!tokens.ok()) return tokens.status();
  const absl::StatusOr<SeedHandle> seed =
      generation_->AdoptSequence(ToEngine(call.sequence), *tokens, control_);
  if (!seed.ok()) return Stopped(seed.status());
  const auto id = static_cast<uint64_t>(*seed);
  if (absl::Status kept = link_.handles.AddLease(id); !kept.ok()) return kept;
  return linkw::AdoptSequenceResult{linkw::SeedHandle{id}};
}

CallRun::Reply CallRun::Call(const linkw::PublishSequence& call) {
  if (absl::Status known = CheckSequence(call.sequence); !known.ok()) return known;
  const absl::StatusOr<std::vector<Token>> tokens = ReadTokens(call.span);
  if (!tokens.ok()) return tokens.status();
  const absl::Status published =
      generation_->PublishSequence(ToEngine(call.sequence), *tokens, control_);
  if (!published.ok()) return Stopped(published);
  return linkw::PublishSequenceResult{};
}

CallRun::Reply CallRun::Call(const linkw::Unpublish& call) {
  const absl::StatusOr<std::vector<Token>> tokens = ReadTokens(call.span);
  if (!tokens.ok()) return tokens.status();
  const absl::Status gone = generation_->Unpublish(*tokens);
  // Nothing is cached for these tokens: no handle is unknown.
  if (absl::IsNotFound(gone))
    return linkw::MakeStatus(linkw::Status::kNotFound, std::string(gone.message()));
  if (!gone.ok()) return gone;
  return linkw::UnpublishResult{};
}

}  // namespace superfluid
