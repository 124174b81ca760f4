#ifndef SUPERFLUID_ENGINE_CONSTRAIN_STACKS_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/constrain/grammar.h"

namespace superfluid {

// How much of a value was read. What `detail` and `position` mean depends on the node:
//
//   kAutomaton  detail: state; count: characters, if there are lengths
//   kString     part: state of the string table; count: characters
//   kArray      count: items
//   kObject     position: the first property that may come; part: of a name that may be another
//               one, state of the string table; detail: of a name, node of the key trie; behind it,
//               the value's node; count: members, if they are counted
//   kTags       detail: state of the free text, or node of the begins; position: structure;
//               count: bytes of its end
struct Frame {
  enum class Phase : uint8_t {
    kStart,     // nothing was read
    kFirst,     // behind the bracket
    kNext,      // behind a value
    kMore,      // behind a comma
    kName,      // inside of a name, or of a begin
    kColon,     // behind a name
    kValue,     // a value comes
    kFree,      // in free text
    kTagValue,  // behind a begin
    kTagEnd,    // behind a tag's value
    kDone       // of the frame below all: the value was read
  };

  uint32_t node = kNoNode;  // kNoNode: the frame below all
  Phase phase = Phase::kStart;
  uint8_t blanks = 0;  // 1: a blank; 2 and more: a line break and blanks
  uint8_t part = 0;
  uint8_t unused = 0;
  uint32_t position = 0;
  uint32_t detail = 0;
  uint32_t count = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};
static_assert(sizeof(Frame) == 20, "the hash of a frame is that of its bytes");

uint64_t HashOf(const Frame& frame, uint64_t seed);

// Where a text stands: the stacks of frames that what was read so far can lead to, in one arena;
// stacks share their lower frames. A copy is independent, and costs what is alive.
//
// Threads: one. Lifetime: keeps its grammar alive.
//
// Invariants:
//  1. A frame's parent lies below it in the arena; frames are never changed once they are pushed.
//  2. Each stack of tops() can be completed (Grammar, invariant 1).
//  3. Read takes exactly the texts that walking each stack alone would take: it lets kMaxStacks
//     stacks live for each stack that there was, and only then drops those that are too many.
class Stacks {
 public:
  struct Entry {
    Frame frame;
    uint32_t parent = kNoNode;
    uint32_t depth = 0;
    uint64_t hash = 0;  // of the whole stack
  };

  explicit Stacks(std::shared_ptr<const Grammar> grammar);
  Stacks(const Stacks& other) : grammar_(other.grammar_) { CopyAlive(other); }
  Stacks& operator=(const Stacks& other);
  Stacks(Stacks&&) = default;
  Stacks& operator=(Stacks&&) = default;

  // Reads bytes. False: no text continues so; nothing was read then.
  bool Read(absl::string_view bytes);
  // Returns whether the text may end here.
  bool CanEnd() const;
  absl::Span<const uint32_t> tops() const { return tops_; }
  const Grammar& grammar() const { return *grammar_; }
  size_t bytes() const { return arena_.capacity() * sizeof(Entry) + tops_.capacity() * 4; }

  // ---- For those who look ahead: what they push is released before the next Read ----

  const Entry& at(uint32_t entry) const { return arena_[entry]; }
  size_t Mark() const { return arena_.size(); }
  void Release(size_t mark) { arena_.resize(mark); }
  uint32_t Push(const Frame& frame, uint32_t parent);
  // Appends the tops that a byte leads to.
  void Step(uint32_t top, uint8_t byte, std::vector<uint32_t>& out);
  // Drops stacks that are there twice, and those beyond kMaxStacks.
  static void Unify(const std::vector<Entry>& arena, std::vector<uint32_t>& tops);
  void Unify(std::vector<uint32_t>& tops) const { Unify(arena_, tops); }
  // Returns whether the text may end with this stack.
  bool MayEnd(uint32_t top) const;
  // Sets from which depth up frames have been looked at by Step and MayEnd.
  void BeginWatch(uint32_t depth) { lowest_ = depth; }
  uint32_t lowest() const { return lowest_; }

  // Which properties may come next: positions, and whether another name may.
  struct Range {
    uint32_t low = 0;
    uint32_t high = 0;
    bool any = false;  // low to high, both included
    bool extra = false;
  };
  static Range RangeOf(const GrammarNode& node, const Frame& frame);
  // Counts a member, where they are counted.
  static void CountMember(const GrammarNode& node, Frame& frame);

 private:
  using Tops = std::vector<uint32_t>;

  void CopyAlive(const Stacks& other);
  // Takes one blank, or a line break and up to 20 blanks. Returns whether the byte was taken.
  static bool TakeBlank(Frame& frame, uint8_t byte);
  bool ReadFrom(uint32_t top, absl::string_view bytes, Tops& out);
  void Keep(const Frame& frame, uint32_t parent, Tops& out) { out.push_back(Push(frame, parent)); }
  void StepFrame(Frame frame, uint32_t parent, uint8_t byte, Tops& out);
  void StepAutomaton(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte,
                     Tops& out);
  void StepString(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte, Tops& out);
  void StepArray(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte, Tops& out);
  void StepObject(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte, Tops& out);
  void StepMember(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte, Tops& out);
  void StepName(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte, Tops& out);
  void StepTags(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte, Tops& out);
  void OpenValue(const Frame& around, uint32_t parent, uint32_t node, uint8_t byte, Tops& out);

  std::shared_ptr<const Grammar> grammar_;
  std::vector<Entry> arena_;
  Tops tops_;
  mutable uint32_t lowest_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_STACKS_H_
