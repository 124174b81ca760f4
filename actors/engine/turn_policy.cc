#include "actors/engine/turn_policy.h"

#include <algorithm>
#include <tuple>

namespace superfluid {
namespace {

constexpr auto kTick = static_cast<size_t>(Turn::kTick);
// Work that takes no time that a clock sees would never have had its share.
constexpr int64_t kLeastChargeNs = 1000;

}  // namespace

std::optional<Turn> TurnPolicy::Next(const Ready& ready) {
  if (std::none_of(ready.begin(), ready.end(), [](bool is_ready) { return is_ready; })) {
    last_was_tick_ = false;  // the next tick comes alone
    Admit(ready);
    return std::nullopt;
  }
  ticks_queue_ = ready[kTick] && (ticks_queue_ || last_was_tick_);
  Admit(ready);
  Turn next = LeastCharged();
  if (ready[kTick] && !ticks_queue_) {
    next = Turn::kTick;
    kinds_[kTick].charged_ns = std::min(kinds_[kTick].charged_ns, least_ns_);  // invariant 3
  }
  last_was_tick_ = next == Turn::kTick;
  if (last_was_tick_) ticks_queue_ = false;
  kinds_.at(static_cast<size_t>(next)).served = ++turns_;
  return next;
}

void TurnPolicy::Charge(Turn turn, int64_t engine_ns) {
  kinds_.at(static_cast<size_t>(turn)).charged_ns += std::max(engine_ns, kLeastChargeNs);
}

// Notes what is ready, and keeps invariants 1 and 2.
void TurnPolicy::Admit(const Ready& ready) {
  std::optional<int64_t> least;
  for (size_t i = 0; i < kTurns; ++i) {
    Kind& kind = kinds_.at(i);
    if (ready.at(i) && !kind.ready) kind.charged_ns = std::max(kind.charged_ns, least_ns_);
    kind.ready = ready.at(i);
    if (kind.ready) least = std::min(least.value_or(kind.charged_ns), kind.charged_ns);
  }
  if (!least) return;
  least_ns_ = std::max(least_ns_, *least);
  for (Kind& kind : kinds_) {
    if (kind.ready) kind.charged_ns = std::min(kind.charged_ns, *least + kMaxOwedNs);
  }
}

Turn TurnPolicy::LeastCharged() const {
  std::optional<size_t> best;
  const auto rank = [this](size_t i) {
    return std::tuple{kinds_.at(i).charged_ns, kinds_.at(i).served};
  };
  for (size_t i = 0; i < kTurns; ++i) {
    if (kinds_.at(i).ready && (!best || rank(i) < rank(*best))) best = i;
  }
  return static_cast<Turn>(*best);
}

}  // namespace superfluid
