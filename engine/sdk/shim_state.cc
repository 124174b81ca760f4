#include "absl/time/time.h"
#include "engine/sdk/host_views.h"
#include "engine/sdk/shim_types.h"

// Of the shim: the state of sequences.
namespace superfluid::sdk {
namespace {

SequenceHandle SequenceOf(const sfl_state_range& what) { return SequenceHandle{what.sequence}; }
SpaceId SpaceOf(const sfl_state_range& what) { return SpaceId{what.space}; }
TokenRange RangeOf(const sfl_state_range& what) { return {what.start, what.end}; }

sfl_status StateSpaces(sfl_engine* engine, sfl_list* spaces, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    FillList<sfl_state_space>(generation.StateSpaces(), *spaces, SpaceToHost);
    return absl::OkStatus();
  });
}

sfl_status SnapshotBoundary(sfl_engine* engine, uint64_t sequence, uint32_t space, uint64_t cap,
                            uint64_t* position, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return Put(generation.SnapshotBoundary(SequenceHandle{sequence}, SpaceId{space}, cap),
               position);
  });
}

sfl_status SizeOfExport(sfl_engine* engine, const sfl_state_range* what, sfl_export_size* size,
                        sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const sfl_state_range range = CopyIn(what);
    const absl::StatusOr<ExportSize> answer =
        generation.SizeOfExport(SequenceOf(range), SpaceOf(range), RangeOf(range), range.encoding);
    if (!answer.ok()) return answer.status();
    FillIn(size, [&](sfl_export_size& raw) {
      raw.bytes = answer->bytes;
      raw.sizing_gen = answer->sizing_gen;
    });
    return absl::OkStatus();
  });
}

sfl_status Provenance(sfl_engine* engine, const sfl_state_range* what, sfl_digest* provenance,
                      sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const sfl_state_range range = CopyIn(what);
    const absl::StatusOr<Digest> answer =
        generation.Provenance(SequenceOf(range), SpaceOf(range), RangeOf(range));
    if (answer.ok()) *provenance = DigestToHost(*answer);
    return answer.status();
  });
}

absl::Status PutJob(absl::StatusOr<std::unique_ptr<StateJob>> started, sfl_state_job** job) {
  if (!started.ok()) return started.status();
  if (*started == nullptr) return absl::InternalError("the engine returned no job");
  *job = std::make_unique<sfl_state_job>(sfl_state_job{*std::move(started)}).release();
  return absl::OkStatus();
}

sfl_status ExportStart(sfl_engine* engine, const sfl_state_export* host, void* out, size_t size,
                       sfl_state_job** job, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const sfl_state_export raw = CopyIn(host);
    StateExport what;
    what.sequence = SequenceOf(raw.what);
    what.space = SpaceOf(raw.what);
    what.range = RangeOf(raw.what);
    what.encoding = raw.what.encoding;
    what.free_device_copy = (raw.flags & SFL_EXPORT_FREE_DEVICE_COPY) != 0;
    return PutJob(generation.StartExport(what, absl::MakeSpan(static_cast<std::byte*>(out), size)),
                  job);
  });
}

sfl_status ImportStart(sfl_engine* engine, const sfl_state_import* host, const void* bytes,
                       size_t size, sfl_state_job** job, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const sfl_state_import raw = CopyIn(host);
    StateImport what;
    what.sequence = SequenceOf(raw.what);
    what.space = SpaceOf(raw.what);
    what.range = RangeOf(raw.what);
    what.encoding = raw.what.encoding;
    what.provenance = DigestFromHost(raw.provenance);
    what.replace = (raw.flags & SFL_IMPORT_REPLACE) != 0;
    return PutJob(generation.StartImport(
                      what, absl::MakeConstSpan(static_cast<const std::byte*>(bytes), size)),
                  job);
  });
}

uint32_t OutcomeToHost(StateJobOutcome outcome) {
  switch (outcome) {
    case StateJobOutcome::kMore:
      return SFL_STATE_MORE;
    case StateJobOutcome::kWaiting:
      return SFL_STATE_WAITING;
    case StateJobOutcome::kDone:
      break;
  }
  return SFL_STATE_DONE;
}

sfl_status StateStep(sfl_engine* /*engine*/, sfl_state_job* job, const sfl_state_step* step,
                     sfl_state_progress* progress, sfl_error* error) noexcept {
  return Guarded(error, [&]() -> absl::Status {
    sfl_state_step host = CopyIn(step);
    const CancelToken token(&PollStateCancel, &host);
    const StepBudget budget{absl::Microseconds(host.budget_us)};
    const absl::StatusOr<StateJobOutcome> outcome = job->job->Step(budget, token);
    if (!outcome.ok()) return outcome.status();
    FillIn(progress, [&](sfl_state_progress& raw) {
      raw.outcome = OutcomeToHost(*outcome);
      raw.bytes_moved = job->job->bytes_moved();
    });
    return absl::OkStatus();
  });
}

void StateFree(sfl_engine* /*engine*/, sfl_state_job* job) noexcept {
  Guarded(nullptr, [&] {
    delete job;
    return absl::OkStatus();
  });
}

}  // namespace

void AddState(sfl_engine_vtable& table) noexcept {
  table.state_spaces = &StateSpaces;
  table.snapshot_boundary = &SnapshotBoundary;
  table.export_size = &SizeOfExport;
  table.provenance = &Provenance;
  table.export_start = &ExportStart;
  table.import_start = &ImportStart;
  table.state_step = &StateStep;
  table.state_free = &StateFree;
}

}  // namespace superfluid::sdk
