#ifndef SUPERFLUID_ENGINE_GENERATION_SESSION_STATE_JOB_H_
#define SUPERFLUID_ENGINE_GENERATION_SESSION_STATE_JOB_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "engine/generation/session.h"
#include "engine/generation/state_mover.h"
#include "engine/state_job.h"

namespace superfluid {

// An export or import: a step computes what is not computed yet of what goes out, a pass a step;
// then each moves a part. Errors of Step: those of the mover; FailedPrecondition: the sequence has
// changed since the job was started, or is gone, or would have to be computed under another
// adapter. Threads: one. Lifetime: the session's.
class SessionStateJob final : public StateJob {
 public:
  // `computed_end`: what must be computed before the first part; 0: nothing.
  SessionStateJob(Session& session, SequenceHandle handle, SpaceId space, uint64_t computed_end,
                  std::unique_ptr<StateMover> mover);

  absl::StatusOr<StateJobOutcome> Step(const StepBudget& budget, const CancelToken& token) override;
  uint64_t bytes_moved() const override { return mover_->BytesMoved(moved_); }

 private:
  absl::StatusOr<SessionSequence*> Sequence() const;

  Session& session_;
  const SequenceHandle handle_;
  const SpaceId space_;
  const uint64_t computed_end_;
  const std::unique_ptr<StateMover> mover_;
  const uint64_t version_;
  bool prepared_ = false;
  uint64_t moved_ = 0;  // parts
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_SESSION_STATE_JOB_H_
