#include "engine/generation/session_state_job.h"

#include <utility>

#include "absl/status/status.h"

namespace superfluid {

SessionStateJob::SessionStateJob(Session& session, SequenceHandle handle, SpaceId space,
                                 uint64_t computed_end, std::unique_ptr<StateMover> mover)
    : session_(session),
      handle_(handle),
      space_(space),
      computed_end_(computed_end),
      mover_(std::move(mover)),
      version_((*session.sequences.Find(handle))->version(space)) {}

absl::StatusOr<SessionSequence*> SessionStateJob::Sequence() const {
  absl::StatusOr<SessionSequence*> found = session_.sequences.Find(handle_);
  if (!found.ok() || (*found)->version(space_) != version_) {
    return absl::FailedPreconditionError("the sequence has changed under the state job");
  }
  return found;
}

absl::StatusOr<StateJobOutcome> SessionStateJob::Step(const StepBudget& /*budget*/,
                                                      const CancelToken& token) {
  const absl::Status cancelled = absl::CancelledError("the state job was cancelled");
  if (token.cancelled()) return cancelled;
  const absl::StatusOr<SessionSequence*> sequence = Sequence();
  if (!sequence.ok()) return sequence.status();
  if ((*sequence)->computed() < computed_end_) {
    const auto some = session_.ComputeSome(**sequence, computed_end_, CallControl(token, nullptr));
    if (!some.ok()) return some.status();
    return StateJobOutcome::kMore;
  }
  if (!prepared_) {
    if (absl::Status status = mover_->Prepare(**sequence); !status.ok()) return status;
    prepared_ = true;
  }
  if (moved_ < mover_->parts()) {
    if (absl::Status status = mover_->Move(**sequence, moved_); !status.ok()) return status;
    if (++moved_ < mover_->parts()) return StateJobOutcome::kMore;
  }
  absl::StatusOr<StateJobOutcome> finished = mover_->Finish();
  if (!finished.ok() || *finished != StateJobOutcome::kDone) return finished;
  if (token.cancelled()) return cancelled;
  if (absl::Status status = mover_->Commit(**sequence); !status.ok()) return status;
  return StateJobOutcome::kDone;
}

}  // namespace superfluid
