// The state of sequences: what may be cut, exported and imported.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/cache/token_provenance.h"
#include "engine/generation/session_generation.h"
#include "engine/generation/session_state_job.h"

namespace superfluid {
namespace {

// Null: there is none.
const StateSpace* SpaceOf(const std::vector<StateSpace>& spaces, SpaceId id) {
  const auto found = std::find_if(spaces.begin(), spaces.end(),
                                  [id](const StateSpace& space) { return space.id == id; });
  return found == spaces.end() ? nullptr : &*found;
}

absl::Status NoSpace(SpaceId space) {
  return absl::InvalidArgumentError(absl::StrCat("no state space ", static_cast<uint32_t>(space)));
}

}  // namespace

absl::Status SessionGeneration::Trim(SequenceHandle sequence, SpaceId space, uint64_t new_len) {
  if (SpaceOf(model_->Spaces(), space) == nullptr) return NoSpace(space);
  const absl::StatusOr<SessionSequence*> found = session_.sequences.Find(sequence);
  return found.ok() ? (*found)->Trim(space, new_len) : found.status();
}

absl::StatusOr<SessionSequence*> SessionGeneration::FindState(SequenceHandle sequence,
                                                              SpaceId space) const {
  if (!model_->CanExport()) return absl::UnimplementedError("no state can be exported");
  if (SpaceOf(model_->Spaces(), space) == nullptr) return NoSpace(space);
  return session_.sequences.Find(sequence);
}

absl::Status SessionGeneration::CheckEncoding(SpaceId space, uint32_t encoding) const {
  const std::vector<StateSpace> spaces = model_->Spaces();
  if (encoding < 64 && ((SpaceOf(spaces, space)->encodings >> encoding) & 1U) != 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("the space has no encoding ", encoding));
}

absl::StatusOr<uint64_t> SessionGeneration::SnapshotBoundary(SequenceHandle sequence, SpaceId space,
                                                             uint64_t cap) {
  const absl::StatusOr<SessionSequence*> found = FindState(sequence, space);
  if (!found.ok()) return found.status();
  // What is not computed cannot be any more under another adapter.
  if (!session_.facts.eager && !session_.CheckAdapter(**found).ok()) {
    cap = std::min(cap, (*found)->computed());
  }
  return (*found)->Boundary(space, cap);
}

absl::StatusOr<ExportSize> SessionGeneration::SizeOfExport(SequenceHandle sequence, SpaceId space,
                                                           TokenRange range, uint32_t encoding) {
  const absl::StatusOr<SessionSequence*> found = FindState(sequence, space);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEncoding(space, encoding); !status.ok()) return status;
  if (absl::Status status = (*found)->CheckExport(space, range); !status.ok()) return status;
  if (!session_.facts.eager && (*found)->computed() < range.end) {
    if (absl::Status status = session_.CheckAdapter(**found); !status.ok()) return status;
  }
  return ExportSize{model_->ExportBytes(**found, space, range, encoding), (*found)->version(space)};
}

absl::StatusOr<Digest> SessionGeneration::Provenance(SequenceHandle sequence, SpaceId space,
                                                     TokenRange range) {
  const absl::StatusOr<SessionSequence*> found = FindState(sequence, space);
  if (!found.ok()) return found.status();
  if (absl::Status status = (*found)->CheckRange(space, range); !status.ok()) return status;
  return (*found)->Provenance(space, range);
}

absl::StatusOr<std::unique_ptr<StateJob>> SessionGeneration::StartExport(
    const StateExport& what, absl::Span<std::byte> out) {
  const absl::StatusOr<ExportSize> size =
      SizeOfExport(what.sequence, what.space, what.range, what.encoding);
  if (!size.ok()) return size.status();
  if (out.size() != size->bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("room for ", out.size(), " bytes of state instead of ", size->bytes));
  }
  SessionSequence& sequence = **session_.sequences.Find(what.sequence);
  absl::StatusOr<std::unique_ptr<StateMover>> mover = model_->StartExport(sequence, what, out);
  if (!mover.ok()) return mover.status();
  const uint64_t end = session_.facts.eager ? 0 : what.range.end;
  return std::make_unique<SessionStateJob>(session_, what.sequence, what.space, end,
                                           *std::move(mover));
}

absl::Status SessionGeneration::CheckRestore(const SessionSequence& sequence,
                                             const StateImport& what) const {
  if (what.range.start != 0 || what.range.end > session_.facts.context()) {
    return absl::InvalidArgumentError(
        absl::StrCat("what is restored is a range from 0 to at most ", session_.facts.context()));
  }
  if (AdapterOfProvenance(what.provenance) != sequence.adapter().fingerprint) {
    return absl::FailedPreconditionError("the state was computed under another adapter");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<StateJob>> SessionGeneration::StartImport(
    const StateImport& what, absl::Span<const std::byte> bytes) {
  const absl::StatusOr<SessionSequence*> found = FindState(what.sequence, what.space);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEncoding(what.space, what.encoding); !status.ok()) return status;
  absl::Status status = what.replace
                            ? CheckRestore(**found, what)
                            : (*found)->CheckPromote(what.space, what.range, what.provenance);
  if (!status.ok()) return status;
  absl::StatusOr<std::unique_ptr<StateMover>> mover = model_->StartImport(**found, what, bytes);
  if (!mover.ok()) return mover.status();
  return std::make_unique<SessionStateJob>(session_, what.sequence, what.space, 0,
                                           *std::move(mover));
}

}  // namespace superfluid
