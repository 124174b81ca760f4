#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "engine/constrain/grammar.h"

// Of LengthTable.
namespace superfluid {
namespace {

// An edge of the automaton, and whether it begins a character.
struct Step {
  uint32_t to = 0;
  bool begins = false;
};

std::vector<std::vector<Step>> FindSteps(const ByteDfa& dfa, CompileBudget& budget) {
  std::vector<std::vector<Step>> steps(dfa.size());
  for (uint32_t state = 0; state < dfa.size() && budget.Spend(256); ++state) {
    std::set<std::pair<uint32_t, bool>> found;
    for (size_t byte = 0; byte < 256; ++byte) {
      const int32_t to = dfa.Next(state, static_cast<uint8_t>(byte));
      if (to == ByteDfa::kNone) continue;
      const bool begins = !dfa.IsInside(state) && byte != '"';
      found.emplace(static_cast<uint32_t>(to), begins);
    }
    for (const auto& [to, begins] : found) steps[state].push_back({to, begins});
  }
  return steps;
}

// Returns the states in such an order that those come first that the others reach without
// beginning a character. There are no circles of such steps: inside of a character each byte gets
// nearer to its end.
std::vector<uint32_t> OrderStates(const ByteDfa& dfa, const std::vector<std::vector<Step>>& steps) {
  std::vector<uint32_t> waits(dfa.size());
  std::vector<std::vector<uint32_t>> before(dfa.size());
  for (uint32_t state = 0; state < dfa.size(); ++state) {
    for (const Step& step : steps[state]) {
      if (step.begins) continue;
      before[step.to].push_back(state);
      ++waits[state];
    }
  }
  std::vector<uint32_t> order;
  for (uint32_t state = 0; state < dfa.size(); ++state) {
    if (waits[state] == 0) order.push_back(state);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const uint32_t state : before[order[i]]) {
      if (--waits[state] == 0) order.push_back(state);
    }
  }
  return order;
}

}  // namespace

bool LengthTable::Compute(const ByteDfa& dfa, CompileBudget& budget) {
  const auto steps = FindSteps(dfa, budget);
  if (budget.failed()) return false;
  const std::vector<uint32_t> order = OrderStates(dfa, steps);
  for (uint32_t more = 0; more <= limit_; ++more) {
    if (!budget.Spend(order.size())) return false;
    for (const uint32_t state : order) {
      bool reached = more == 0 && dfa.Accepts(state);
      for (const Step& step : steps[state]) {
        if (reached) break;
        reached = step.begins ? more > 0 && Bit(step.to, more - 1) : Bit(step.to, more);
      }
      if (reached) bits_[size_t{state} * words_ + more / 64] |= uint64_t{1} << (more % 64);
    }
  }
  return true;
}

void LengthTable::FindThresholds(size_t states) {
  for (uint32_t state = 0; state < states; ++state) {
    uint32_t first = 0;
    while (first <= limit_ && !Bit(state, first)) ++first;
    if (first <= limit_) nearest_ = std::max(nearest_, first);
    uint32_t last = limit_;
    while (last > 0 && Bit(state, last - 1) == Bit(state, limit_)) --last;
    settled_ = std::max(settled_, last);
  }
}

std::unique_ptr<LengthTable> LengthTable::Make(const ByteDfa& dfa, uint32_t min, uint32_t max,
                                               CompileBudget& budget) {
  auto table = std::make_unique<LengthTable>();
  const auto states = static_cast<uint32_t>(dfa.size());
  // Whether a text can still end needs no look beyond the shortest way to an end.
  table->limit_ = max == kNoLimit ? min + states : max;
  table->words_ = table->limit_ / 64 + 1;
  const size_t bytes = size_t{table->words_} * states * sizeof(uint64_t);
  if (bytes > kMaxBytes) {
    budget.Fail(BadSchema("too large a grammar: 'pattern' beside minLength or maxLength"));
    return nullptr;
  }
  if (!budget.Hold(bytes)) return nullptr;
  table->bits_.resize(size_t{table->words_} * states);
  if (!table->Compute(dfa, budget)) return nullptr;
  table->FindThresholds(states);
  return table->Allows(dfa.start(), 0, min, max) ? std::move(table) : nullptr;
}

bool LengthTable::Allows(uint32_t state, uint32_t count, uint32_t min, uint32_t max) const {
  if (count > max) return false;
  const uint32_t low = min > count ? min - count : 0;
  const uint32_t high = std::min(max == kNoLimit ? limit_ : max - count, limit_);
  const uint64_t* words = &bits_[size_t{state} * words_];
  for (uint32_t i = low / 64; i <= high / 64; ++i) {
    uint64_t word = words[i];
    if (i == low / 64) word &= ~uint64_t{0} << (low % 64);
    if (i == high / 64) word &= ~uint64_t{0} >> (63 - high % 64);
    if (word != 0) return true;
  }
  return false;
}

uint32_t LengthTable::Canonical(uint32_t count, uint32_t min, uint32_t max,
                                uint32_t longest) const {
  const uint32_t left = max == kNoLimit ? kNoLimit : max - count;
  if (count >= min && left >= nearest_ + longest) return kNoLimit;
  // The lower bound stays where all bits of a state are the same.
  if (min > count && min - count >= settled_ + longest) return kNoLimit + 1;
  return count;
}

}  // namespace superfluid
