#include "tests/stress/tick_load.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "protocol/messages/status.h"
#include "tests/conformance/show.h"
#include "tests/stress/fates.h"

namespace superfluid::stress {
namespace {

using linkw::Status;

constexpr uint32_t kLanes = 4;
constexpr uint32_t kStopSlots = 256;

enum class Fate { kFinish, kStop, kDeadline };

// One reference on its way: what the worker has of it.
struct Draw {
  const DrawReference* reference = nullptr;  // null: nothing yet
  linkw::SequenceId sequence{};
  uint64_t position = 0;  // tokens in the sequence: of the prompt, then drawn ones

  bool done() const { return position == reference->size(); }
};

class TickLoad {
 public:
  TickLoad(SoakLink& link, const References& references, uint64_t seed, uint32_t number)
      : link_(link),
        references_(references),
        random_(seed),
        fates_({Fate::kFinish, Fate::kFinish, Fate::kFinish, Fate::kStop, Fate::kStop,
                Fate::kDeadline},
               random_),
        first_tag_(uint64_t{1000} * (number + 1)),
        first_stop_(1 + number * kLanes) {}

  void Run() {
    while (!link_.stopping()) {
      for (Draw& draw : draws_) {
        if (draw.reference == nullptr) Begin(draw);
      }
      if (!RunOneTick()) break;
      for (Draw& draw : draws_) {
        if (draw.reference != nullptr && draw.done()) Finish(draw);
      }
      if (random_() % 8 == 0) Fork();
      if (random_() % 4 == 0) (void)link_.Pause(absl::Milliseconds(random_() % 30));
    }
    if (link_.killed()) return;
    for (Draw& draw : draws_) Free(draw);
  }

 private:
  uint32_t Any(uint64_t below) { return static_cast<uint32_t>(random_() % below); }
  Tally& tally() { return link_.tally(); }

  void Begin(Draw& draw) {
    draw = {.reference = &references_.draws[Any(references_.draws.size())]};
    if (link_.Has("seed") && Any(3) == 0) Lease(*draw.reference);
  }

  // A new sequence that begins with a leased prefix takes the lease; one that is not taken ends by
  // itself.
  void Lease(const DrawReference& reference) {
    const auto span = link_.rings().WriteTokens(reference.prompt);
    if (!span.ok()) return;
    const auto match = linkw::ExpectReply<linkw::MatchResult>(
        link_.client().Request(linkw::MatchRequest{.span = *span}));
    if (!match.ok() || match->status != Status::kOk || match->spaces.empty()) return;
    uint64_t cached = reference.prompt.size();
    for (const auto& space : match->spaces) cached = std::min(cached, space.matched_tokens);
    const auto again = link_.rings().WriteTokens(reference.prompt);
    if (cached == 0 || !again.ok()) return;
    const auto grant = linkw::ExpectReply<linkw::SeedGrant>(
        link_.client().Request(linkw::SeedAcquire{.span = *again, .prefix_len = cached}));
    if (!grant.ok() || grant->status != Status::kOk) return;
    tally().Count("cache.leased");
    if (Any(2) == 0) (void)link_.Send(linkw::SeedRelease{grant->seed_handle});
  }

  // Some of the draws, a lane each.
  std::vector<size_t> Choose() {
    std::vector<size_t> chosen;
    for (size_t i = 0; i < kLanes; ++i) {
      if (Any(3) != 0) chosen.push_back(i);
    }
    if (chosen.empty()) chosen.push_back(Any(kLanes));
    return chosen;
  }

  // nullopt: the input does not go into the ring.
  std::optional<linkw::Lane> MakeLane(size_t index) {
    const Draw& draw = draws_[index];
    linkw::Lane lane{.lane_tag = linkw::LaneTag{first_tag_ + index}, .sequence = draw.sequence};
    lane.stop_slot = first_stop_ + static_cast<uint32_t>(index);
    lane.sampling = draw.reference->sampling;
    const uint64_t prompt = draw.reference->prompt.size();
    uint64_t end = prompt;
    if (draw.position < prompt) {
      if (Any(3) == 0) end = draw.position + 1 + Any(prompt - draw.position);
      const auto span = link_.rings().WriteTokens(draw.reference->Text(draw.position, end));
      if (!span.ok()) return std::nullopt;
      lane.input = *span;
    }
    if (end < prompt || (draw.position < prompt && Any(4) == 0)) {
      lane.kind = linkw::LaneKind::kPrefill;
      return lane;
    }
    const uint64_t left = draw.reference->size() - std::max(draw.position, prompt);
    lane.max_tokens = 1 + Any(left);
    return lane;
  }

  linkw::TickPlan MakePlan(const std::vector<size_t>& chosen, Fate fate) {
    linkw::TickPlan plan{.tick_id = ++last_tick_};
    if (Any(2) == 0) plan.flags = linkw::kTickFlagPartialEmits;
    if (fate == Fate::kDeadline) plan.deadline_us = 1 + Any(3000);
    for (const size_t index : chosen) {
      if (auto lane = MakeLane(index)) plan.lanes.push_back(*std::move(lane));
    }
    return plan;
  }

  // False: the link is gone, or something was wrong.
  bool RunOneTick() {
    const Fate fate = fates_.Next();
    const std::vector<size_t> chosen = Choose();
    const linkw::TickPlan plan = MakePlan(chosen, fate);
    if (plan.lanes.size() != chosen.size()) return !link_.killed();
    const absl::Time begin = absl::Now();
    auto stream = link_.Start(linkw::TickSubmit{plan});
    absl::Time stopped;
    if (fate == Fate::kStop) {
      (void)link_.Pause(absl::Microseconds(Any(3000)));
      stopped = absl::Now();
      SetStops(plan, true);
    }
    const auto result = AwaitTick(link_, plan, std::move(stream));
    if (fate == Fate::kStop) SetStops(plan, false);
    if (!result) return false;
    tally().Time(fate == Fate::kStop ? "tick.stop" : "tick.took",
                 absl::Now() - (fate == Fate::kStop ? stopped : begin));
    return OnResult(chosen, fate, *result);
  }

  void SetStops(const linkw::TickPlan& plan, bool stop) {
    for (const linkw::Lane& lane : plan.lanes) {
      if (!link_.rings().SetLaneStop(lane.stop_slot, stop).ok()) tally().Fail("no such stop bit");
    }
  }

  bool OnResult(const std::vector<size_t>& chosen, Fate fate, const linkw::TickResult& result) {
    const bool late = fate == Fate::kDeadline && result.status == Status::kDeadlineExceeded;
    if (result.status != Status::kOk && !late) {
      tally().Fail(absl::StrCat("a tick: ", conformance::Show(result.status), " ", result.message));
      return false;
    }
    if (result.events.lanes.empty() && late) {  // it never began
      tally().Count("tick.deadline");
      return true;
    }
    if (result.events.lanes.size() != chosen.size()) {
      tally().Fail("a tick's result lacks lanes");
      return false;
    }
    bool stopped = false;
    for (size_t i = 0; i < chosen.size(); ++i) {
      const linkw::LaneEvent& event = result.events.lanes[i];
      stopped = stopped || event.finish_reason == linkw::FinishReason::kStopped;
      if (!OnLane(draws_[chosen[i]], event, late || fate == Fate::kStop)) return false;
    }
    tally().Count(late ? "tick.deadline" : stopped ? "tick.stopped" : "tick.done");
    return true;
  }

  bool OnLane(Draw& draw, const linkw::LaneEvent& event, bool may_stop) {
    if (event.status != Status::kOk) {
      tally().Fail(absl::StrCat("a lane: ", conformance::Show(event.status), " ", event.message));
      return false;
    }
    if (event.finish_reason == linkw::FinishReason::kStopped && !may_stop) {
      tally().Fail("a lane was stopped that nobody stopped");
    }
    const auto tokens = link_.rings().ReadTokens(event.out);
    if (!tokens.ok()) {
      tally().Fail(absl::StrCat("a lane's output: ", tokens.status().ToString()));
      return false;
    }
    const uint64_t from = event.position - tokens->size();
    if (event.position > draw.reference->size() || from < draw.position ||
        (!tokens->empty() && from < draw.reference->prompt.size()) ||
        *tokens != draw.reference->Text(from, event.position)) {
      tally().Fail(absl::StrCat(
          "a lane drew something else: ", tokens->size(), " tokens up to ", event.position,
          " after ", draw.position, ", prompt of ", draw.reference->prompt.size(), "; drew ",
          absl::StrJoin(*tokens, " "), ", reference ", absl::StrJoin(draw.reference->tokens, " ")));
      return false;
    }
    draw.sequence = event.sequence;
    draw.position = event.position;
    return true;
  }

  void Finish(Draw& draw) {
    tally().Count("draw.done");
    if (link_.Has("publish_sequence") && Any(3) == 0) Publish(draw);
    Free(draw);
  }

  void Publish(const Draw& draw) {
    const auto span = link_.rings().WriteTokens(draw.reference->prompt);
    if (!span.ok()) return;
    const auto published = link_.Call<linkw::PublishSequenceResult>(
        linkw::PublishSequence{.sequence = draw.sequence, .span = *span});
    if (published.ok()) return tally().Count("cache.published");
    const Status status = linkw::FromAbsl(published.status());
    // Less than a block, or no room.
    if (status != Status::kInvalidArgument && status != Status::kOutOfMemory && !link_.killed()) {
      tally().Fail(absl::StrCat("publishing: ", published.status().ToString()));
    }
  }

  // One draw goes on in a sequence of its own.
  void Fork() {
    Draw& from = draws_[Any(kLanes)];
    Draw& to = draws_[Any(kLanes)];
    if (!link_.Has("fork") || &from == &to || from.sequence == linkw::SequenceId{}) return;
    const auto forked = link_.Call<linkw::ForkResult>(linkw::Fork{.parent = from.sequence});
    if (!forked.ok()) {
      if (!link_.killed()) tally().Fail(absl::StrCat("fork: ", forked.status().ToString()));
      return;
    }
    Free(to);
    to = from;
    to.sequence = forked->child;
    tally().Count("draw.forked");
  }

  void Free(Draw& draw) {
    if (draw.sequence != linkw::SequenceId{} && link_.Has("free_sequence")) {
      const auto freed = link_.Call<linkw::FreeSequenceResult>(linkw::FreeSequence{draw.sequence});
      if (!freed.ok() && !link_.killed()) {
        tally().Fail(absl::StrCat("freeing: ", freed.status().ToString()));
      }
    }
    draw = {};
  }

  SoakLink& link_;
  const References& references_;
  std::mt19937_64 random_;
  Fates<Fate> fates_;
  const uint64_t first_tag_;
  const uint32_t first_stop_;
  uint64_t last_tick_ = 0;
  std::array<Draw, kLanes> draws_{};
};

}  // namespace

void RunTickLoad(SoakLink& link, const References& references, uint64_t seed, uint32_t number) {
  if ((number + 1) * kLanes > kStopSlots) return;
  TickLoad(link, references, seed, number).Run();
}

}  // namespace superfluid::stress
