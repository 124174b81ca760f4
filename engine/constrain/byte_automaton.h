#ifndef SUPERFLUID_ENGINE_CONSTRAIN_BYTE_AUTOMATON_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_BYTE_AUTOMATON_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "engine/constrain/compile_budget.h"

namespace superfluid {

// Whether a state lies between characters or inside of one (of its UTF-8, of its escape).
enum class Position : uint8_t { kBetween, kInside };

// A nondeterministic automaton over bytes, to be made deterministic. Once the budget has failed
// AddState returns state 0, so that whoever builds needs to look at the budget in loops only.
class ByteNfa {
 public:
  static constexpr size_t kMaxStates = 60'000;

  struct Edge {
    uint32_t to = 0;
    uint8_t low = 0;
    uint8_t high = 0;
  };
  struct State {
    std::vector<Edge> edges;
    std::vector<uint32_t> empty;  // states that are reached without a byte
    Position position = Position::kBetween;
  };

  explicit ByteNfa(CompileBudget& budget) : budget_(budget) {}

  uint32_t AddState(Position position = Position::kBetween);
  void AddEdge(uint32_t from, uint8_t low, uint8_t high, uint32_t to);
  void AddEdge(uint32_t from, char byte, uint32_t to);
  void AddEmpty(uint32_t from, uint32_t to);
  // Adds a path that reads these bytes; the states on it lie inside of a character.
  void AddBytes(uint32_t from, absl::string_view bytes, uint32_t to);

  const std::vector<State>& states() const { return states_; }
  CompileBudget& budget() const { return budget_; }

 private:
  CompileBudget& budget_;
  std::vector<State> states_;
};

// A deterministic automaton over bytes without dead states: from each an accepting one can be
// reached. Immutable once made.
class ByteDfa {
 public:
  static constexpr size_t kMaxStates = 20'000;
  static constexpr size_t kMaxCells = size_t{2} << 20U;
  static constexpr int32_t kNone = -1;

  // What a maker fills in. `next` has a row of `class_count` entries for each state.
  struct Table {
    std::array<uint8_t, 256> classes{};  // of bytes that no state tells apart
    uint32_t class_count = 0;
    std::vector<int32_t> next;
    std::vector<bool> accepts;
    std::vector<bool> inside;
    uint32_t start = 0;
  };

  // Takes out what leads nowhere. Nullopt: the automaton takes nothing, or the budget has failed.
  static std::optional<ByteDfa> Make(Table table, CompileBudget& budget);

  // Returns the state after a byte; kNone: nothing continues so.
  int32_t Next(uint32_t state, uint8_t byte) const {
    return next_[state * class_count_ + classes_[byte]];
  }
  bool Accepts(uint32_t state) const { return (flags_[state] & kAccepts) != 0; }
  bool IsInside(uint32_t state) const { return (flags_[state] & kInside) != 0; }
  // Returns whether no byte leads on: such a state accepts.
  bool IsLast(uint32_t state) const { return (flags_[state] & kLast) != 0; }
  uint32_t start() const { return start_; }
  size_t size() const { return flags_.size(); }
  size_t bytes() const { return next_.size() * sizeof(int32_t) + flags_.size() + sizeof(*this); }
  const std::array<uint8_t, 256>& classes() const { return classes_; }
  uint32_t class_count() const { return class_count_; }

 private:
  enum Flag : uint8_t { kAccepts = 1, kInside = 2, kLast = 4 };

  ByteDfa() = default;

  std::array<uint8_t, 256> classes_{};
  uint32_t class_count_ = 0;
  uint32_t start_ = 0;
  std::vector<int32_t> next_;
  std::vector<uint8_t> flags_;
};

// Each returns nullopt if nothing is taken, or the budget has failed (too many states, too).

// Makes the automaton deterministic. Cost: a unit an edge of each set of states that comes up.
std::optional<ByteDfa> Determinise(const ByteNfa& nfa, uint32_t start, uint32_t accept);
// Makes the automaton of what both take.
std::optional<ByteDfa> Intersect(const ByteDfa& a, const ByteDfa& b, CompileBudget& budget);
// Makes the automaton of these texts.
std::optional<ByteDfa> LiteralDfa(const std::vector<std::string>& texts, CompileBudget& budget);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_BYTE_AUTOMATON_H_
