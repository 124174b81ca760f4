#ifndef SUPERFLUID_ENGINE_GENERATION_SESSION_LANE_H_
#define SUPERFLUID_ENGINE_GENERATION_SESSION_LANE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "engine/constrain/lane_constraint.h"
#include "engine/generation/session.h"
#include "engine/tick.h"

namespace superfluid {

// One lane of a tick while it runs:
//
//   Prepare -> AppendInput -> Share, (a pass), Deliver ... Share, (a pass), Deliver -> TakeResult
//                             (while active)
//
// An error of any of them ends the lane with kError and puts the sequence back to where it was (a
// new one goes). Threads: one. Lifetime: within RunTick.
class SessionLane {
 public:
  SessionLane(Session& session, const LaneWork& work)
      : session_(session), eager_(session.facts.eager), work_(work) {}

  // Finds or makes the sequence, and checks everything that can be checked.
  void Prepare();
  // Takes over what is cached of the input, and appends the rest.
  void AppendInput();

  // Whether passes are still needed.
  bool active() const { return state_ == State::kComputing; }
  bool draws() const { return work_.max_tokens > 0; }
  // Whether what it computes next stands for media: then a pass of such tokens is needed.
  bool NextIsMedia();
  // What the lane wants of the next pass, up to so many tokens and outputs (at least one of each);
  // of tokens that are computed at once all.
  PassShare Share(size_t max_tokens, size_t max_outputs);
  // After the pass: draws what it gives. `stopped` is asked between two draws.
  template <typename Stopped>
  void Deliver(const PassShare& share, Stopped stopped) {
    if (!Begin(share)) return;
    for (size_t i = 0; i < share.outputs && active(); ++i) {
      if (i > 0 && stopped()) {
        Stop();
        break;
      }
      if (!DrawFrom(share, i)) break;
    }
    Settle();
  }

  const std::vector<Token>& drawn() const { return result_.tokens; }
  // Ends the lane with kStopped, unless it has ended.
  void Stop();
  void Fail(absl::Status status);
  LaneResult TakeResult();

 private:
  enum class State : uint8_t { kNew, kPrepared, kComputing, kEnded };

  absl::Status CheckWork();
  absl::Status FindSequence();
  absl::Status MakeSequence();
  absl::Status CheckLength(uint64_t length) const;
  absl::Status Append();
  absl::Status UseCached(const BoundMedia& bound);
  absl::Status BeginDrawing();
  absl::Status ReadSoFar();
  void MakeRoomForLast();
  void RefillDrafts();
  void AddDrafts(PassShare& share, size_t max_tokens, size_t max_outputs);
  bool Begin(const PassShare& share);
  bool DrawFrom(const PassShare& share, size_t i);
  absl::Status Draw(absl::Span<float> logits);
  bool CheckDraft(Token token);
  void CheckEnd(Token token);
  void Settle();
  void End(FinishReason finish);
  bool Full() const;
  uint64_t Target() const;

  Session& session_;
  const bool eager_;
  const LaneWork& work_;
  State state_ = State::kNew;
  LaneResult result_;
  SessionSequence* sequence_ = nullptr;
  bool made_ = false;                      // by this lane
  bool marked_ = false;                    // what was there before can be gone back to
  std::shared_ptr<TokenGrammar> grammar_;  // null: none
  const LogitBias* bias_ = nullptr;
  const Drafter* drafter_ = nullptr;
  std::optional<LaneConstraint> constraint_;
  uint64_t output_start_ = 0;
  CacheNode adopted_{};  // whose lease ends if the lane succeeds
  bool full_at_start_ = false;
  std::deque<Token> drafts_;  // not checked yet
  uint64_t valid_ = 0;        // so much of what is computed is of the sequence's tokens
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_SESSION_LANE_H_
