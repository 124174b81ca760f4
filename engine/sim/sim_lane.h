#ifndef SUPERFLUID_ENGINE_SIM_SIM_LANE_H_
#define SUPERFLUID_ENGINE_SIM_SIM_LANE_H_

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "engine/constrain/lane_constraint.h"
#include "engine/sim/sim_drawing.h"
#include "engine/sim/sim_world.h"
#include "engine/tick.h"

namespace superfluid {

// One lane of a tick while it runs:
//
//   Prepare -> AppendInput -> DrawOne ... DrawOne -> TakeResult
//                          (while wants_more)
//
// An error of any of them ends the lane with kError and puts the sequence back to where it was (a
// new one goes). Threads: one. Lifetime: within RunTick.
class SimLane {
 public:
  SimLane(SimWorld& world, const LaneWork& work) : world_(world), work_(work) {}

  // Finds or makes the sequence and checks everything that can be checked.
  void Prepare();
  // Appends the input; of a new sequence, what the prefix cache has of it comes from there.
  void AppendInput();

  bool wants_more() const { return state_ == State::kDrawing; }
  // Draws one token and appends it. True: the draw was a new pass over the model; false: the pass
  // before had checked it with a draft.
  bool DrawOne();
  const std::vector<Token>& drawn() const { return result_.tokens; }

  // Ends the lane with kStopped, unless it has ended.
  void Stop();
  LaneResult TakeResult();

 private:
  enum class State : uint8_t { kNew, kPrepared, kDrawing, kEnded };

  absl::Status CheckWork();
  absl::Status FindSequence();
  absl::Status MakeSequence();
  absl::Status Append();
  absl::Status AppendCached(const MediaMap& media);
  absl::Status BeginDrawing();
  absl::Status Draw();
  void RefillDrafts();
  void CheckDraft(Token token);
  void CheckEnd(Token token);
  void Fail(absl::Status status);
  void End(FinishReason finish);
  bool Full() const;
  void AddLogits();

  SimWorld& world_;
  const LaneWork& work_;
  State state_ = State::kNew;
  LaneResult result_;
  SimSequence* sequence_ = nullptr;
  bool made_ = false;  // by this lane
  std::optional<SimSequence::Mark> before_;
  SimDrawRules rules_;
  std::shared_ptr<TokenGrammar> grammar_;  // null: none
  const SimDrafter* drafter_ = nullptr;
  std::optional<LaneConstraint> constraint_;
  MediaMap media_;       // bound to the input
  CacheNode adopted_{};  // whose lease ends if the lane succeeds
  std::deque<Token> drafts_;
  bool accepted_ = false;  // the last draw was a draft, so its pass gives the next draw, too
  std::optional<SimPoint> drawn_from_;  // the last draw's
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_LANE_H_
