#include "engine/generation/session_tick.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/generation/session_lane.h"
#include "engine/sampling/tick_check.h"

namespace superfluid {
namespace {

class Passes {
 public:
  Passes(Session& session, const Tick& tick, const CancelToken& token, TickHost& host)
      : session_(session), tick_(tick), token_(token), host_(host), control_(token, [this] {
          (void)host_.LaneStopped(0);  // asking is the sign of life that a tick has
        }) {}

  // One pass of the lanes that are not done. False: none is left.
  bool Run(std::vector<SessionLane>& lanes) {
    StopLanes(lanes);
    Collect(lanes);
    if (shares_.empty()) return false;
    const absl::Status status = session_.model.Decode(absl::MakeSpan(shares_), control_);
    if (absl::IsResourceExhausted(status)) {
      lanes[whose_.back()].Fail(status);
      return true;
    }
    for (size_t i = 0; i < shares_.size(); ++i) {
      if (status.ok()) {
        Deliver(whose_[i], lanes[whose_[i]], shares_[i]);
      } else {
        lanes[whose_[i]].Fail(status);
      }
    }
    return true;
  }

 private:
  void StopLanes(std::vector<SessionLane>& lanes) {
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].active() && (token_.cancelled() || host_.LaneStopped(i))) lanes[i].Stop();
    }
  }

  // A pass is of tokens or of what stands for media, not of both. If there are lanes of both kinds
  // they take turns.
  void ChooseKind(std::vector<SessionLane>& lanes) {
    bool media = false;
    bool tokens = false;
    for (SessionLane& lane : lanes) {
      if (lane.active()) (lane.NextIsMedia() ? media : tokens) = true;
    }
    media_ = media && !(tokens && media_);
  }

  // Shares as far as a pass has room. The lanes that found none begin the next pass of the kind.
  void Collect(std::vector<SessionLane>& lanes) {
    shares_.clear();
    whose_.clear();
    ChooseKind(lanes);
    tokens_left_ = session_.model.max_tokens();
    outputs_left_ = session_.model.max_outputs();
    size_t& next = media_ ? next_media_ : next_;
    const size_t first = std::exchange(next, 0);
    for (const bool drawing : {true, false}) {
      for (size_t k = 0; k < lanes.size(); ++k) {
        const size_t i = (first + k) % lanes.size();
        if (!lanes[i].active() || lanes[i].draws() != drawing) continue;
        if (lanes[i].NextIsMedia() != media_) continue;
        if (!Take(i, lanes[i])) {
          next = i;
          return;
        }
      }
    }
  }

  // False: there is no room.
  bool Take(size_t index, SessionLane& lane) {
    if (tokens_left_ == 0 || outputs_left_ == 0) return false;
    PassShare share = lane.Share(tokens_left_, outputs_left_);
    if ((share.tokens.empty() && share.outputs == 0) || (share.non_causal && !shares_.empty()))
      return false;
    tokens_left_ = share.non_causal ? 0 : tokens_left_ - share.tokens.size();
    outputs_left_ -= share.outputs;
    shares_.push_back(std::move(share));
    whose_.push_back(index);
    return true;
  }

  void Deliver(size_t index, SessionLane& lane, const PassShare& share) {
    const size_t before = lane.drawn().size();
    lane.Deliver(share, [&] { return token_.cancelled() || host_.LaneStopped(index); });
    if (!tick_.partial_emits || lane.drawn().size() <= before) return;
    host_.Emit(index, absl::MakeConstSpan(lane.drawn()).subspan(before));
  }

  Session& session_;
  const Tick& tick_;
  const CancelToken& token_;
  TickHost& host_;
  const CallControl control_;
  std::vector<PassShare> shares_;
  std::vector<size_t> whose_;  // lanes, by share
  size_t tokens_left_ = 0;
  size_t outputs_left_ = 0;
  bool media_ = false;  // what the pass is of
  size_t next_ = 0;
  size_t next_media_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<LaneResult>> RunSessionTick(Session& session, const Tick& tick,
                                                       const CancelToken& token, TickHost& host) {
  ++session.ticks;
  session.grammars.BeginTick();
  session.ExpireLeases();
  if (absl::Status status = session.model.BeginTick(session.ticks); !status.ok()) return status;
  if (absl::Status status = CheckTick(tick, TokenModel::kMaxLanes); !status.ok()) return status;
  std::vector<SessionLane> lanes;
  lanes.reserve(tick.lanes.size());
  for (const LaneWork& work : tick.lanes) {
    SessionLane& lane = lanes.emplace_back(session, work);
    lane.Prepare();
    if (session.facts.eager && token.cancelled()) lane.Stop();
    lane.AppendInput();
  }
  Passes passes(session, tick, token, host);
  while (passes.Run(lanes)) {
  }
  std::vector<LaneResult> results;
  results.reserve(lanes.size());
  for (SessionLane& lane : lanes) results.push_back(lane.TakeResult());
  return results;
}

}  // namespace superfluid
