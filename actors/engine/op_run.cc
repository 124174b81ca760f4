#include "actors/engine/op_run.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

SequenceHandle ToEngine(linkw::SequenceId id) { return SequenceHandle{static_cast<uint64_t>(id)}; }
SpaceId ToEngine(linkw::SpaceId id) { return SpaceId{static_cast<uint32_t>(id)}; }

StateExport ExportOf(const linkw::Snapshot& op) {
  return {.sequence = ToEngine(op.sequence),
          .space = ToEngine(op.space_id),
          .range = {0, op.boundary_pos}};
}

StateExport ExportOf(const linkw::Demote& op) {
  return {.sequence = ToEngine(op.sequence),
          .space = ToEngine(op.space_id),
          .range = {op.range.start, op.range.end},
          .encoding = op.encoding,
          .free_device_copy = true};
}

DemotedRanges::Entry EntryOf(const linkw::StateEnvelope& envelope) {
  return {.space = ToEngine(envelope.space_id),
          .range = {envelope.range.start, envelope.range.end},
          .provenance = envelope.provenance};
}

absl::Status CheckRange(const linkw::TokenRange& range) {
  if (range.start < range.end) return absl::OkStatus();
  return absl::InvalidArgumentError("the token range is empty or reversed");
}

}  // namespace

linkw::SequenceId SequenceOf(const linkw::StateOp& op) {
  return std::visit([](const auto& kind) { return kind.sequence; }, op);
}
linkw::SpaceId SpaceOf(const linkw::StateOp& op) {
  return std::visit([](const auto& kind) { return kind.space_id; }, op);
}
linkw::BufId BufferOf(const linkw::StateOp& op) {
  return std::visit([](const auto& kind) { return kind.buf_id; }, op);
}
bool IsExport(const linkw::StateOp& op) {
  return std::holds_alternative<linkw::Snapshot>(op) || std::holds_alternative<linkw::Demote>(op);
}

absl::StatusOr<std::unique_ptr<OpRun>> OpRun::Begin(Generation& generation, const EngineLink& link,
                                                    const linkw::StateOp& op,
                                                    std::shared_ptr<const Segment> segment,
                                                    std::shared_ptr<const ImportedState> import) {
  const absl::Status known =
      link.handles.Check(HandleKind::kSequence, static_cast<uint64_t>(SequenceOf(op)));
  if (!known.ok()) return known;
  std::unique_ptr<OpRun> run(new OpRun());
  run->segment_ = std::move(segment);
  run->import_ = std::move(import);
  absl::Status begun;
  if (const auto* snapshot = std::get_if<linkw::Snapshot>(&op)) {
    begun = run->BeginExport(generation, ExportOf(*snapshot), snapshot->sizing_gen);
  } else if (const auto* demote = std::get_if<linkw::Demote>(&op)) {
    begun = CheckRange(demote->range);
    if (begun.ok()) begun = run->BeginExport(generation, ExportOf(*demote), demote->sizing_gen);
  } else {
    const linkw::StateEnvelope& envelope = run->import_->envelope;
    begun = CheckPromote(link, op, envelope);
    if (!begun.ok()) return begun;
    begun = run->BeginImport(generation, {.sequence = ToEngine(SequenceOf(op)),
                                          .space = ToEngine(envelope.space_id),
                                          .range = {envelope.range.start, envelope.range.end},
                                          .encoding = envelope.encoding,
                                          .provenance = envelope.provenance,
                                          .replace = std::holds_alternative<linkw::Restore>(op)});
  }
  if (!begun.ok()) return begun;
  return run;
}

absl::Status OpRun::CheckPromote(const EngineLink& link, const linkw::StateOp& op,
                                 const linkw::StateEnvelope& envelope) {
  if (!std::holds_alternative<linkw::Promote>(op) ||
      !link.demoted.Contradicts(ToEngine(SequenceOf(op)), EntryOf(envelope))) {
    return absl::OkStatus();
  }
  return linkw::MakeStatus(linkw::Status::kEnvelopeMismatch,
                           "the buffer holds other state than was demoted");
}

void NoteOpDone(EngineLink& link, const linkw::StateOp& op, const linkw::StateEnvelope& envelope) {
  const SequenceHandle sequence = ToEngine(SequenceOf(op));
  if (std::holds_alternative<linkw::Demote>(op)) {
    link.demoted.Add(sequence, EntryOf(envelope));
  } else if (std::holds_alternative<linkw::Promote>(op)) {
    link.demoted.Remove(sequence, EntryOf(envelope));
  } else if (std::holds_alternative<linkw::Restore>(op)) {
    link.demoted.ForgetSpace(sequence, EntryOf(envelope).space);
  }
}

OpRun::~OpRun() {
  job_.reset();  // before the memory that it may touch
}

absl::Status OpRun::BeginExport(Generation& generation, const StateExport& what,
                                uint64_t sizing_gen) {
  const absl::StatusOr<ExportSize> size =
      generation.SizeOfExport(what.sequence, what.space, what.range, what.encoding);
  if (!size.ok()) return size.status();
  if (size->sizing_gen != sizing_gen) {
    return absl::FailedPreconditionError(
        "the state has changed since EXPORT_SIZE: its sizing_gen is stale");
  }
  if (segment_->size() < linkw::kStateEnvelopeBytes ||
      size->bytes > segment_->size() - linkw::kStateEnvelopeBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the buffer has ", segment_->size(),
                                                   " bytes; the sealed state takes ", size->bytes,
                                                   " and ", linkw::kStateEnvelopeBytes));
  }
  const absl::StatusOr<Digest> provenance =
      generation.Provenance(what.sequence, what.space, what.range);
  if (!provenance.ok()) return provenance.status();
  const absl::StatusOr<absl::Span<std::byte>> out =
      segment_->Slice(linkw::kStateEnvelopeBytes, size->bytes);
  if (!out.ok()) return out.status();
  absl::StatusOr<std::unique_ptr<StateJob>> job = generation.StartExport(what, *out);
  if (!job.ok()) return job.status();
  if (*job == nullptr) return absl::InternalError("the engine returned no export");
  job_ = *std::move(job);
  envelope_ = {.provenance = *provenance,
               .space_id = linkw::SpaceId{static_cast<uint32_t>(what.space)},
               .encoding = what.encoding,
               .range = {what.range.start, what.range.end},
               .payload_bytes = size->bytes};
  return absl::OkStatus();
}

absl::Status OpRun::BeginImport(Generation& generation, const StateImport& what) {
  absl::StatusOr<std::unique_ptr<StateJob>> job = generation.StartImport(what, import_->payload());
  if (!job.ok()) return job.status();
  if (*job == nullptr) return absl::InternalError("the engine returned no import");
  job_ = *std::move(job);
  envelope_ = import_->envelope;
  return absl::OkStatus();
}

absl::StatusOr<StateJobOutcome> OpRun::Step(const StepBudget& budget, const CancelToken& token) {
  absl::StatusOr<StateJobOutcome> outcome = job_->Step(budget, token);
  if (outcome.ok() && job_->bytes_moved() > envelope_.payload_bytes) {
    return absl::InternalError("the engine says that it moved more bytes than there are");
  }
  return outcome;
}

uint64_t OpRun::bytes_moved() const {
  return std::min(job_->bytes_moved(), envelope_.payload_bytes);
}

}  // namespace superfluid
