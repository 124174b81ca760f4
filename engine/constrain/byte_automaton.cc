#include "engine/constrain/byte_automaton.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace superfluid {
namespace {

using States = std::vector<uint32_t>;

void FailTooLarge(CompileBudget& budget) {
  budget.Fail(BadSchema("too large a grammar: a pattern or range needs too many states"));
}

// Returns which states an accepting one can be reached from.
std::vector<bool> FindLive(const ByteDfa::Table& table) {
  const size_t count = table.accepts.size();
  std::vector<States> before(count);
  for (size_t i = 0; i < table.next.size(); ++i) {
    if (table.next[i] == ByteDfa::kNone) continue;
    before[static_cast<size_t>(table.next[i])].push_back(
        static_cast<uint32_t>(i / table.class_count));
  }
  std::vector<bool> live = table.accepts;
  States work;
  for (uint32_t state = 0; state < count; ++state) {
    if (live[state]) work.push_back(state);
  }
  while (!work.empty()) {
    const uint32_t state = work.back();
    work.pop_back();
    for (const uint32_t from : before[state]) {
      if (live[from]) continue;
      live[from] = true;
      work.push_back(from);
    }
  }
  return live;
}

// Gives sets of states numbers, and makes the table of what leads from which to which.
class SubsetBuilder {
 public:
  SubsetBuilder(const ByteNfa& nfa, uint32_t accept)
      : nfa_(nfa), budget_(nfa.budget()), accept_(accept), seen_(nfa.states().size()) {}

  std::optional<ByteDfa> Build(uint32_t start) {
    FindClasses();
    table_.start = NumberOf(Close({start}));
    for (uint32_t state = 0; state < sets_.size() && !budget_.failed(); ++state) AddRow(state);
    if (budget_.failed()) return std::nullopt;
    return ByteDfa::Make(std::move(table_), budget_);
  }

 private:
  void FindClasses() {
    std::array<bool, 257> cut{};
    for (const ByteNfa::State& state : nfa_.states()) {
      for (const ByteNfa::Edge& edge : state.edges) {
        cut.at(edge.low) = true;
        cut.at(edge.high + 1U) = true;
      }
    }
    cut[0] = true;
    for (size_t byte = 0; byte < 256; ++byte) {
      if (cut.at(byte)) samples_.push_back(static_cast<uint8_t>(byte));
      table_.classes.at(byte) = static_cast<uint8_t>(samples_.size() - 1);
    }
    table_.class_count = static_cast<uint32_t>(samples_.size());
  }

  // Returns the states and those that they reach without a byte, sorted.
  States Close(States work) {
    ++stamp_;
    States closed;
    while (!work.empty() && budget_.Spend()) {
      const uint32_t state = work.back();
      work.pop_back();
      if (seen_[state] == stamp_) continue;
      seen_[state] = stamp_;
      closed.push_back(state);
      const States& empty = nfa_.states()[state].empty;
      work.insert(work.end(), empty.begin(), empty.end());
    }
    std::sort(closed.begin(), closed.end());
    return closed;
  }

  uint32_t NumberOf(States set) {
    const auto [at, fresh] =
        numbers_.try_emplace(std::move(set), static_cast<uint32_t>(sets_.size()));
    if (!fresh) return at->second;
    cells_ += at->first.size() + table_.class_count;
    if (sets_.size() >= ByteDfa::kMaxStates || cells_ > ByteDfa::kMaxCells) FailTooLarge(budget_);
    sets_.push_back(at->first);
    bool accepts = false;
    bool inside = false;
    for (const uint32_t state : at->first) {
      accepts = accepts || state == accept_;
      inside = inside || nfa_.states()[state].position == Position::kInside;
    }
    table_.accepts.push_back(accepts);
    table_.inside.push_back(inside);
    return at->second;
  }

  void AddRow(uint32_t state) {
    const States set = sets_[state];  // a copy: sets_ grows
    for (uint32_t i = 0; i < table_.class_count && !budget_.failed(); ++i) {
      States to;
      for (const uint32_t from : set) {
        for (const ByteNfa::Edge& edge : nfa_.states()[from].edges) {
          if (edge.low <= samples_[i] && samples_[i] <= edge.high) to.push_back(edge.to);
        }
        budget_.Spend(nfa_.states()[from].edges.size());
      }
      const bool none = to.empty();
      table_.next.push_back(none ? ByteDfa::kNone : static_cast<int32_t>(NumberOf(Close(to))));
    }
  }

  const ByteNfa& nfa_;
  CompileBudget& budget_;
  const uint32_t accept_;
  ByteDfa::Table table_;
  std::vector<uint8_t> samples_;  // a byte of each class
  absl::flat_hash_map<States, uint32_t> numbers_;
  std::vector<States> sets_;
  std::vector<uint32_t> seen_;
  uint32_t stamp_ = 0;
  size_t cells_ = 0;
};

}  // namespace

uint32_t ByteNfa::AddState(Position position) {
  if (states_.size() >= kMaxStates) FailTooLarge(budget_);
  if (!budget_.Spend() && !states_.empty()) return 0;
  states_.emplace_back();
  states_.back().position = position;
  return static_cast<uint32_t>(states_.size() - 1);
}

void ByteNfa::AddEdge(uint32_t from, uint8_t low, uint8_t high, uint32_t to) {
  if (budget_.Spend()) states_[from].edges.push_back({to, low, high});
}

void ByteNfa::AddEdge(uint32_t from, char byte, uint32_t to) {
  AddEdge(from, static_cast<uint8_t>(byte), static_cast<uint8_t>(byte), to);
}

void ByteNfa::AddEmpty(uint32_t from, uint32_t to) {
  if (budget_.Spend()) states_[from].empty.push_back(to);
}

void ByteNfa::AddBytes(uint32_t from, absl::string_view bytes, uint32_t to) {
  if (bytes.empty()) return AddEmpty(from, to);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint32_t next = i + 1 == bytes.size() ? to : AddState(Position::kInside);
    AddEdge(from, bytes[i], next);
    from = next;
  }
}

std::optional<ByteDfa> ByteDfa::Make(Table table, CompileBudget& budget) {
  if (!budget.Spend(table.next.size())) return std::nullopt;
  const std::vector<bool> live = FindLive(table);
  if (!live[table.start]) return std::nullopt;
  ByteDfa dfa;
  dfa.classes_ = table.classes;
  dfa.class_count_ = table.class_count;
  dfa.start_ = table.start;
  dfa.next_ = std::move(table.next);
  dfa.flags_.assign(table.accepts.size(), kLast);
  for (size_t i = 0; i < dfa.next_.size(); ++i) {
    int32_t& to = dfa.next_[i];
    if (to != kNone && !live[static_cast<size_t>(to)]) to = kNone;
    if (to != kNone) dfa.flags_[i / dfa.class_count_] = 0;
  }
  for (size_t state = 0; state < dfa.size(); ++state) {
    if (table.accepts[state]) dfa.flags_[state] |= kAccepts;
    if (table.inside[state]) dfa.flags_[state] |= kInside;
  }
  if (!budget.Hold(dfa.bytes())) return std::nullopt;
  return dfa;
}

std::optional<ByteDfa> Determinise(const ByteNfa& nfa, uint32_t start, uint32_t accept) {
  if (nfa.budget().failed()) return std::nullopt;
  return SubsetBuilder(nfa, accept).Build(start);
}

std::optional<ByteDfa> Intersect(const ByteDfa& a, const ByteDfa& b, CompileBudget& budget) {
  ByteDfa::Table table;
  std::map<std::pair<uint8_t, uint8_t>, uint8_t> classes;
  std::vector<uint8_t> samples;
  for (size_t byte = 0; byte < 256; ++byte) {
    const auto [at, fresh] = classes.try_emplace({a.classes().at(byte), b.classes().at(byte)},
                                                 static_cast<uint8_t>(samples.size()));
    if (fresh) samples.push_back(static_cast<uint8_t>(byte));
    table.classes.at(byte) = at->second;
  }
  table.class_count = static_cast<uint32_t>(samples.size());
  using Pair = std::pair<uint32_t, uint32_t>;
  absl::flat_hash_map<Pair, uint32_t> numbers;
  std::vector<Pair> pairs;
  const auto number = [&](Pair pair) {
    const auto [at, fresh] = numbers.try_emplace(pair, static_cast<uint32_t>(pairs.size()));
    if (!fresh) return static_cast<int32_t>(at->second);
    pairs.push_back(pair);
    table.accepts.push_back(a.Accepts(pair.first) && b.Accepts(pair.second));
    table.inside.push_back(a.IsInside(pair.first) || b.IsInside(pair.second));
    return static_cast<int32_t>(at->second);
  };
  number({a.start(), b.start()});
  for (size_t i = 0; i < pairs.size() && budget.Spend(samples.size()); ++i) {
    const Pair from = pairs[i];
    const bool large =
        pairs.size() > ByteDfa::kMaxStates || pairs.size() * samples.size() > ByteDfa::kMaxCells;
    if (large) FailTooLarge(budget);
    for (const uint8_t byte : samples) {
      const int32_t x = a.Next(from.first, byte);
      const int32_t y = b.Next(from.second, byte);
      const bool none = x == ByteDfa::kNone || y == ByteDfa::kNone;
      table.next.push_back(none ? ByteDfa::kNone
                                : number({static_cast<uint32_t>(x), static_cast<uint32_t>(y)}));
    }
  }
  if (budget.failed()) return std::nullopt;
  return ByteDfa::Make(std::move(table), budget);
}

std::optional<ByteDfa> LiteralDfa(const std::vector<std::string>& texts, CompileBudget& budget) {
  ByteDfa::Table table;
  std::array<bool, 256> used{};
  for (const std::string& text : texts) {
    for (const char c : text) used.at(static_cast<uint8_t>(c)) = true;
  }
  table.class_count = 1;
  for (size_t byte = 0; byte < 256; ++byte) {
    if (used.at(byte)) table.classes.at(byte) = static_cast<uint8_t>(table.class_count++);
  }
  const auto add_state = [&table, &budget] {
    table.next.resize(table.next.size() + table.class_count, ByteDfa::kNone);
    table.accepts.push_back(false);
    table.inside.push_back(false);
    if (table.next.size() > ByteDfa::kMaxCells * 2) FailTooLarge(budget);
    return table.accepts.size() - 1;
  };
  add_state();
  for (const std::string& text : texts) {
    size_t state = 0;
    for (const char c : text) {
      if (!budget.Spend()) return std::nullopt;
      const size_t cell = state * table.class_count + table.classes.at(static_cast<uint8_t>(c));
      if (table.next[cell] == ByteDfa::kNone) {
        const size_t added = add_state();
        table.next[cell] = static_cast<int32_t>(added);
      }
      state = static_cast<size_t>(table.next[cell]);
    }
    table.accepts[state] = true;
  }
  return ByteDfa::Make(std::move(table), budget);
}

}  // namespace superfluid
