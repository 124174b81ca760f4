#ifndef SUPERFLUID_ENGINE_CONSTRAIN_GRAMMAR_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_GRAMMAR_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "engine/constrain/byte_automaton.h"

namespace superfluid {

inline constexpr uint32_t kNoNode = UINT32_MAX;
inline constexpr uint32_t kNoLimit = 0x3FFFFFFF;
// How deep values may be nested, and on how many stacks a text may stand at once. Both narrow what
// a grammar takes; neither lets anything else through.
inline constexpr uint32_t kMaxValueDepth = 128;
inline constexpr size_t kMaxStacks = 512;

// Of an automaton of strings: by how many more characters an accepting state can be reached from
// each of its states, so that a pattern and lengths are met together.
class LengthTable {
 public:
  static constexpr size_t kMaxBytes = size_t{8} << 20U;

  // Null: the budget has failed, or no string of a length from `min` to `max` is taken.
  static std::unique_ptr<LengthTable> Make(const ByteDfa& dfa, uint32_t min, uint32_t max,
                                           CompileBudget& budget);

  // Returns whether a text of `count` characters in `state` can get a length from `min` to `max`.
  bool Allows(uint32_t state, uint32_t count, uint32_t min, uint32_t max) const;
  // Returns a number that is equal for counts that Allows does not tell apart for texts of
  // `longest` more characters.
  uint32_t Canonical(uint32_t count, uint32_t min, uint32_t max, uint32_t longest) const;
  size_t bytes() const { return bits_.size() * sizeof(uint64_t); }

 private:
  bool Bit(uint32_t state, uint32_t more) const {
    return ((bits_[size_t{state} * words_ + more / 64] >> (more % 64)) & 1U) != 0;
  }
  bool Compute(const ByteDfa& dfa, CompileBudget& budget);
  void FindThresholds(size_t states);

  uint32_t limit_ = 0;    // the last bit
  uint32_t words_ = 0;    // of a state
  uint32_t nearest_ = 0;  // the most characters that a state needs at least
  uint32_t settled_ = 0;  // from here on all bits of a state are the same
  std::vector<uint64_t> bits_;
};

// Names as JSON strings without their first quote, so that the closing one ends them.
class KeyTrie {
 public:
  static constexpr int32_t kInner = -1;
  static constexpr int32_t kForbidden = -2;  // a name that must not be used

  struct Node {
    std::vector<std::pair<uint8_t, uint32_t>> next;  // sorted
    std::vector<uint32_t> below;  // positions of the names that end here or below
    int32_t leaf = kInner;        // a position, if a name ends here
  };

  // Adds a text. `position`: its own, ascending from call to call, or kForbidden.
  void Add(absl::string_view text, int32_t position, CompileBudget& budget);

  // Returns the node after a byte; kNoNode if there is none.
  uint32_t Next(uint32_t node, uint8_t byte) const;
  // Returns whether one of the names at or below the node is at a position from `low` to `high`.
  bool Reaches(uint32_t node, uint32_t low, uint32_t high) const;
  const Node& node(uint32_t index) const { return nodes_[index]; }
  bool IsEmpty() const { return nodes_.size() == 1; }

 private:
  std::vector<Node> nodes_ = std::vector<Node>(1);
};

// The members of an object: named ones in order, of which those not required may be left out, and
// behind them others.
struct ObjectShape {
  struct Property {
    std::string name;
    uint32_t node = kNoNode;
    bool required = false;
  };
  std::vector<Property> properties;
  uint32_t extra = kNoNode;  // the value of members of other names; kNoNode: there are none
  // By position in `properties`, one more for the end: the next required one (the number of
  // properties if there is none), and how many required ones are left.
  std::vector<uint32_t> next_required;
  std::vector<uint32_t> required_left;
  KeyTrie keys;
};

// Free text in which a begin, a value and an end follow wherever a trigger occurs.
struct TagShape {
  // Returns the state after a byte of free text; below 0: a trigger ended, and ~result is a node of
  // `begins`.
  int32_t Next(uint32_t state, uint8_t byte) const { return next[state * 256 + byte]; }

  std::vector<int32_t> next;  // 256 for each state, of which 0 is the start
  KeyTrie begins;
  std::vector<uint32_t> values;
  std::vector<std::string> ends;
};

// A kind of values.
struct GrammarNode {
  enum class Kind : uint8_t {
    kAlternatives,  // those of `alternatives`
    kAutomaton,     // the texts of `automaton`; min, max: of characters, if there are `lengths`
    kString,        // any JSON string; min, max: characters
    kArray,         // prefix, then items; min, max: how many
    kObject,        // min, max: how many members
    kTags           // text that may end
  };
  Kind kind = Kind::kAlternatives;
  uint32_t min = 0;
  uint32_t max = kNoLimit;
  std::vector<uint32_t> alternatives;
  std::shared_ptr<const ByteDfa> automaton;
  std::unique_ptr<LengthTable> lengths;
  std::vector<uint32_t> prefix;
  uint32_t items = kNoNode;  // kNoNode: none behind the prefix
  std::unique_ptr<ObjectShape> object;
  std::unique_ptr<TagShape> tags;

  // Set by FinishGrammar:
  uint32_t height = kNoLimit;    // the least nesting of such a value; kNoLimit: it has no end
  std::vector<uint32_t> starts;  // the nodes, no alternatives, that such a value may be of
  std::bitset<256> first;        // bytes with which it may begin; unset for alternatives
};

// A pushdown automaton over bytes: the texts that a schema, tags or an expression allows.
//
//   node     what values of one kind look like; a $ref is an edge, so recursion costs nothing
//   stack    for each value that is open a frame: its node, and how much of it was read (stacks.h)
//   state    a set of stacks, since alternatives may begin alike
//
// Counts (characters, items, members) are in the frames, so that a maximum of 4000 costs no
// states. Immutable once finished. Threads: any.
//
// Invariants, of a finished grammar:
//  1. From every state that a text can reach it can be completed: what cannot be completed was
//     taken out.
//  2. Every text that is taken is allowed by the schema; what is narrower is in json_grammar.h.
struct Grammar {
  enum class Start : uint8_t {
    kValue,  // the root is a JSON value, opened by its first byte
    kText    // the root is open from the beginning, and may end at once
  };

  std::vector<GrammarNode> nodes;
  uint32_t root = 0;
  Start start = Start::kValue;
  uint32_t tallest = 0;  // of all heights that have an end
  size_t bytes = 0;      // about what it keeps
};

// Finds heights, takes out what has no end, and makes what matching needs. InvalidArgument, through
// the budget: no text completes the root. REQUIRES: each kNoLimit height is that of an unfinished
// node.
void FinishGrammar(Grammar& grammar, CompileBudget& budget);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_GRAMMAR_H_
