#include "engine/constrain/stacks.h"

#include <algorithm>
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "engine/constrain/string_table.h"

namespace superfluid {
namespace {

using Kind = GrammarNode::Kind;
using Phase = Frame::Phase;

constexpr size_t kCompactAt = 1024;  // entries of the arena
constexpr uint8_t kLineBreak = 2;
constexpr uint8_t kMaxBlanks = 22;

}  // namespace

uint64_t HashOf(const Frame& frame, uint64_t seed) {
  std::array<uint64_t, 3> words{};
  std::memcpy(words.data(), &frame, sizeof(frame));
  uint64_t hash = seed * 0x9E3779B97F4A7C15U;
  for (const uint64_t word : words) {
    hash = (hash ^ word) * 0xFF51AFD7ED558CCDU;
    hash ^= hash >> 32U;
  }
  return hash;
}

Stacks::Stacks(std::shared_ptr<const Grammar> grammar) : grammar_(std::move(grammar)) {
  Frame below;
  const bool value = grammar_->start == Grammar::Start::kValue;
  below.phase = value ? Phase::kValue : Phase::kDone;
  uint32_t top = Push(below, kNoNode);
  if (!value) {
    const GrammarNode& root = grammar_->nodes[grammar_->root];
    Frame open;
    open.node = grammar_->root;
    open.phase = root.kind == Kind::kTags ? Phase::kFree : Phase::kStart;
    open.detail = root.kind == Kind::kAutomaton ? root.automaton->start() : 0;
    top = Push(open, top);
  }
  tops_ = {top};
}

bool Stacks::TakeBlank(Frame& frame, uint8_t byte) {
  uint8_t& blanks = frame.blanks;
  if (blanks == 0 && (byte == ' ' || byte == '\n')) {
    blanks = byte == ' ' ? 1 : kLineBreak;
    return true;
  }
  if (blanks < kLineBreak || blanks >= kMaxBlanks || (byte != ' ' && byte != '\t')) return false;
  ++blanks;
  return true;
}

Stacks& Stacks::operator=(const Stacks& other) {
  if (this == &other) return *this;
  grammar_ = other.grammar_;
  arena_.clear();
  tops_.clear();
  CopyAlive(other);
  return *this;
}

// Copies the stacks of the tops, and nothing else of the arena.
void Stacks::CopyAlive(const Stacks& other) {
  absl::flat_hash_map<uint32_t, uint32_t> copies = {{kNoNode, kNoNode}};
  Tops path;
  for (const uint32_t top : other.tops_) {
    path.clear();
    uint32_t at = top;
    for (; !copies.contains(at); at = other.arena_[at].parent) path.push_back(at);
    uint32_t parent = copies.at(at);
    for (size_t i = path.size(); i-- > 0;) {
      Entry entry = other.arena_[path[i]];
      entry.parent = parent;
      arena_.push_back(entry);
      parent = static_cast<uint32_t>(arena_.size() - 1);
      copies.emplace(path[i], parent);
    }
    tops_.push_back(parent);
  }
}

uint32_t Stacks::Push(const Frame& frame, uint32_t parent) {
  Entry entry{frame, parent, 0, 0};
  if (parent != kNoNode) {
    entry.depth = arena_[parent].depth + 1;
    entry.hash = arena_[parent].hash;
  }
  entry.hash = HashOf(frame, entry.hash + 1);
  arena_.push_back(entry);
  return static_cast<uint32_t>(arena_.size() - 1);
}

void Stacks::Unify(const std::vector<Entry>& arena, std::vector<uint32_t>& tops) {
  constexpr size_t kFew = 12;
  size_t kept = 0;
  if (tops.size() <= kFew) {
    for (size_t i = 0; i < tops.size(); ++i) {
      const uint64_t hash = arena[tops[i]].hash;
      const auto end = tops.begin() + static_cast<ptrdiff_t>(kept);
      const bool twice =
          std::any_of(tops.begin(), end, [&](uint32_t other) { return arena[other].hash == hash; });
      if (!twice) tops[kept++] = tops[i];
    }
  } else {
    absl::flat_hash_set<uint64_t> seen;
    for (size_t i = 0; i < tops.size() && kept < kMaxStacks; ++i) {
      if (seen.insert(arena[tops[i]].hash).second) tops[kept++] = tops[i];
    }
  }
  tops.resize(kept);
}

bool Stacks::ReadFrom(uint32_t top, absl::string_view bytes, Tops& out) {
  Tops now = {top};
  Tops next;
  for (const char c : bytes) {
    next.clear();
    for (const uint32_t one : now) Step(one, static_cast<uint8_t>(c), next);
    if (next.size() > 1) Unify(next);
    if (next.empty()) return false;
    std::swap(now, next);
  }
  out.insert(out.end(), now.begin(), now.end());
  return true;
}

bool Stacks::Read(absl::string_view bytes) {
  const size_t mark = Mark();
  Tops read;
  for (const uint32_t top : tops_) ReadFrom(top, bytes, read);  // Keeps invariant 3.
  if (read.empty()) {
    Release(mark);
    return false;
  }
  if (read.size() > 1) Unify(read);
  tops_ = std::move(read);
  if (arena_.size() > kCompactAt) *this = Stacks(*this);
  return true;
}

bool Stacks::CanEnd() const {
  return std::any_of(tops_.begin(), tops_.end(), [this](uint32_t top) { return MayEnd(top); });
}

bool Stacks::MayEnd(uint32_t top) const {
  for (uint32_t at = top; at != kNoNode; at = arena_[at].parent) {
    const Frame& frame = arena_[at].frame;
    lowest_ = std::min(lowest_, arena_[at].depth);
    if (frame.node == kNoNode) return frame.phase == Phase::kDone;
    const GrammarNode& node = grammar_->nodes[frame.node];
    const bool ends = node.kind == Kind::kAutomaton ? node.automaton->Accepts(frame.detail)
                                                    : frame.phase == Phase::kFree;
    if (!ends) return false;
  }
  return false;
}

void Stacks::Step(uint32_t top, uint8_t byte, Tops& out) {
  const Entry entry = arena_[top];  // a copy: the arena grows
  lowest_ = std::min(lowest_, entry.depth);
  StepFrame(entry.frame, entry.parent, byte, out);
}

void Stacks::StepFrame(Frame frame, uint32_t parent, uint8_t byte, Tops& out) {
  if (frame.node == kNoNode) {
    if (frame.phase != Phase::kValue) return;
    frame.phase = Phase::kDone;
    return OpenValue(frame, parent, grammar_->root, byte, out);
  }
  const GrammarNode& node = grammar_->nodes[frame.node];
  switch (node.kind) {
    case Kind::kAutomaton:
      return StepAutomaton(node, frame, parent, byte, out);
    case Kind::kString:
      return StepString(node, frame, parent, byte, out);
    case Kind::kArray:
      return StepArray(node, frame, parent, byte, out);
    case Kind::kObject:
      return StepObject(node, frame, parent, byte, out);
    case Kind::kTags:
      return StepTags(node, frame, parent, byte, out);
    case Kind::kAlternatives:
      return;  // no frame has one
  }
}

// Pushes `around` back, and on it a frame for each kind of value that begins with the byte.
void Stacks::OpenValue(const Frame& around, uint32_t parent, uint32_t node, uint8_t byte,
                       Tops& out) {
  const uint32_t below = Push(around, parent);
  const uint32_t depth = arena_[below].depth + 1;
  for (const uint32_t start : grammar_->nodes[node].starts) {
    const GrammarNode& opened = grammar_->nodes[start];
    if (!opened.first.test(byte) || depth + opened.height > kMaxValueDepth) continue;
    Frame frame;
    frame.node = start;
    if (opened.kind == Kind::kAutomaton) frame.detail = opened.automaton->start();
    StepFrame(frame, below, byte, out);
  }
}

// An automaton ends before a byte that is not its own, or after one behind which nothing comes.
void Stacks::StepAutomaton(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte,
                           Tops& out) {
  const ByteDfa& dfa = *node.automaton;
  const int32_t next = dfa.Next(frame.detail, byte);
  if (next == ByteDfa::kNone) {
    if (dfa.Accepts(frame.detail)) Step(parent, byte, out);
    return;
  }
  const auto state = static_cast<uint32_t>(next);
  if (node.lengths != nullptr) {
    if (!dfa.IsInside(frame.detail) && byte != '"') ++frame.count;
    if (!node.lengths->Allows(state, frame.count, node.min, node.max)) return;
  }
  if (dfa.IsLast(state)) return out.push_back(parent);
  frame.detail = state;
  Keep(frame, parent, out);
}

void Stacks::StepString(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte,
                        Tops& out) {
  const uint8_t next = StringTable::OfValues().Next(frame.part, byte);
  if (next == StringTable::kNone) return;
  if (next == StringTable::kClosed) {
    if (frame.count >= node.min) out.push_back(parent);
    return;
  }
  const bool counted = node.min > 0 || node.max < kNoLimit;
  if (frame.part == StringTable::kBetween && counted) {
    if (frame.count >= node.max) return;
    ++frame.count;
  }
  frame.part = next;
  Keep(frame, parent, out);
}

void Stacks::StepArray(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte,
                       Tops& out) {
  if (frame.phase == Phase::kStart) {
    if (byte != '[') return;
    frame.phase = Phase::kFirst;
    return Keep(frame, parent, out);
  }
  if (TakeBlank(frame, byte)) return Keep(frame, parent, out);
  if (byte == ']') {
    if (frame.phase != Phase::kMore && frame.count >= node.min) out.push_back(parent);
    return;
  }
  if (frame.count >= node.max) return;
  frame.blanks = 0;
  if (frame.phase == Phase::kNext) {
    if (byte != ',') return;
    frame.phase = Phase::kMore;
    return Keep(frame, parent, out);
  }
  const bool in_prefix = frame.count < node.prefix.size();
  const uint32_t item = in_prefix ? node.prefix[frame.count] : node.items;
  // Without a maximum, counts beyond the minimum and the prefix make no difference.
  const auto enough = std::max(node.min, static_cast<uint32_t>(node.prefix.size()));
  const uint32_t most = node.max == kNoLimit ? enough : kNoLimit;
  frame.count = std::min(frame.count + 1, most);
  frame.phase = Phase::kNext;
  OpenValue(frame, parent, item, byte, out);
}

}  // namespace superfluid
