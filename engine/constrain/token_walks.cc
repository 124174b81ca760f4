#include <algorithm>
#include <string>

#include "engine/constrain/string_table.h"
#include "engine/constrain/token_masks.h"

// Of TokenMasks: the walks over the trie. A walk that is in a loop of its own (a string, an
// automaton, free text) goes on with frames where that value ends.
namespace superfluid {
namespace {

using Kind = GrammarNode::Kind;
using Phase = Frame::Phase;

void SetBit(TokenBits& bits, Token token) { bits[token / 64] |= uint64_t{1} << (token % 64); }

}  // namespace

void TokenMasks::SetTokensAt(uint32_t node) {
  vocabulary_.ForEachToken(node, [this](Token token) { SetBit(scratch_, token); });
}

// Walks below a node, at which the stacks are `tops`.
void TokenMasks::Walk(Stacks& stacks, uint32_t node, const std::vector<uint32_t>& tops) {
  const uint32_t start = vocabulary_.depth(node);
  if (sets_.size() < vocabulary_.longest() + 1) {
    sets_.resize(vocabulary_.longest() + 1);
    marks_.resize(sets_.size());
  }
  sets_[start] = tops;
  marks_[start] = stacks.Mark();
  const uint32_t end = vocabulary_.skip(node);
  for (uint32_t i = node + 1; i < end;) {
    ++steps_;
    const uint32_t depth = vocabulary_.depth(i);
    stacks.Release(marks_[depth - 1]);
    std::vector<uint32_t>& to = sets_[depth];
    to.clear();
    for (const uint32_t top : sets_[depth - 1]) stacks.Step(top, vocabulary_.byte(i), to);
    if (to.size() > 1) stacks.Unify(to);
    if (to.empty()) {
      i = vocabulary_.skip(i);
      continue;
    }
    marks_[depth] = stacks.Mark();
    SetTokensAt(i);
    ++i;
  }
}

// Sets the tokens that end at a node and walks below it; no stack: neither.
void TokenMasks::WalkBehind(Stacks& stacks, uint32_t node, const std::vector<uint32_t>& tops) {
  if (tops.empty()) return;
  SetTokensAt(node);
  if (vocabulary_.skip(node) > node + 1) Walk(stacks, node, tops);
}

void TokenMasks::WalkAny(Stacks& stacks, uint32_t top, TokenMask& mask) {
  const Frame frame = stacks.at(top).frame;
  if (frame.node != kNoNode) {
    const GrammarNode& node = stacks.grammar().nodes[frame.node];
    const bool between = frame.part == StringTable::kBetween;
    if (node.kind == Kind::kString && between) return WalkString(stacks, top, mask);
    if (node.kind == Kind::kString) return WalkStringTable(stacks, top);
    if (node.kind == Kind::kAutomaton) return WalkAutomaton(stacks, top);
    if (frame.phase == Phase::kFree) return WalkFreeText(stacks, top);
    const bool name = node.kind == Kind::kObject && frame.phase == Phase::kName;
    if (name && between && Stacks::RangeOf(node, frame).extra) return WalkName(stacks, top, mask);
  }
  Walk(stacks, 0, {top});
}

void TokenMasks::WalkString(Stacks& stacks, uint32_t top, TokenMask& mask) {
  const Stacks::Entry entry = stacks.at(top);
  const GrammarNode& node = stacks.grammar().nodes[entry.frame.node];
  const uint32_t count = entry.frame.count;
  const uint32_t least = node.min > count ? node.min - count : 0;
  const uint32_t most = node.max == kNoLimit ? kNoLimit : node.max - count;
  mask.base = &vocabulary_.Staying(Vocabulary::Inside::kValue, most);
  const size_t mark = stacks.Mark();
  for (const Vocabulary::Closing& closing : vocabulary_.ClosingsOf(Vocabulary::Inside::kValue)) {
    ++steps_;
    if (closing.characters < least || closing.characters > most) continue;
    WalkBehind(stacks, closing.node, {entry.parent});
    stacks.Release(mark);
  }
}

void TokenMasks::WalkName(Stacks& stacks, uint32_t top, TokenMask& mask) {
  const Stacks::Entry entry = stacks.at(top);
  mask.base = &vocabulary_.Staying(Vocabulary::Inside::kName, kNoLimit);
  const size_t mark = stacks.Mark();
  // What a name leads to is the same for all that are no named ones; else it is read again.
  const bool free = entry.frame.detail == kNoNode;
  std::vector<uint32_t> tops;
  if (free) stacks.Step(top, '"', tops);
  const size_t inner = stacks.Mark();
  for (const Vocabulary::Closing& closing : vocabulary_.ClosingsOf(Vocabulary::Inside::kName)) {
    ++steps_;
    if (!free) {
      tops = {top};
      for (const char c : vocabulary_.PathTo(closing.node)) {
        std::vector<uint32_t> next;
        for (const uint32_t one : tops) stacks.Step(one, static_cast<uint8_t>(c), next);
        tops = std::move(next);
      }
    }
    WalkBehind(stacks, closing.node, tops);
    stacks.Release(inner);
  }
  stacks.Release(mark);
}

// From inside of an escape or a character.
void TokenMasks::WalkStringTable(Stacks& stacks, uint32_t top) {
  const Stacks::Entry entry = stacks.at(top);
  const GrammarNode& node = stacks.grammar().nodes[entry.frame.node];
  const StringTable& table = StringTable::OfValues();
  states_.assign(vocabulary_.longest() + 1, 0);
  counts_.assign(vocabulary_.longest() + 1, 0);
  states_[0] = entry.frame.part;
  counts_[0] = entry.frame.count;
  const size_t mark = stacks.Mark();
  for (uint32_t i = 1; i < vocabulary_.node_count();) {
    ++steps_;
    const uint32_t depth = vocabulary_.depth(i);
    const auto before = static_cast<uint8_t>(states_[depth - 1]);
    const uint8_t next = table.Next(before, vocabulary_.byte(i));
    const uint32_t count = counts_[depth - 1] + (before == StringTable::kBetween ? 1 : 0);
    if (next == StringTable::kClosed && counts_[depth - 1] >= node.min) {
      WalkBehind(stacks, i, {entry.parent});
      stacks.Release(mark);
    }
    const bool over = next >= StringTable::kClosed || count > node.max;
    if (over) {
      i = vocabulary_.skip(i);
      continue;
    }
    states_[depth] = next;
    counts_[depth] = count;
    SetTokensAt(i);
    ++i;
  }
}

void TokenMasks::WalkAutomaton(Stacks& stacks, uint32_t top) {
  const Stacks::Entry entry = stacks.at(top);
  const GrammarNode& node = stacks.grammar().nodes[entry.frame.node];
  const ByteDfa& dfa = *node.automaton;
  states_.assign(vocabulary_.longest() + 1, 0);
  counts_.assign(vocabulary_.longest() + 1, entry.frame.count);
  states_[0] = static_cast<int32_t>(entry.frame.detail);
  std::vector<uint32_t> tops;
  const size_t mark = stacks.Mark();
  const auto end = static_cast<uint32_t>(vocabulary_.node_count());
  for (uint32_t i = 1; i < end;) {
    ++steps_;
    const uint32_t depth = vocabulary_.depth(i);
    const auto before = static_cast<uint32_t>(states_[depth - 1]);
    const uint8_t byte = vocabulary_.byte(i);
    const int32_t next = dfa.Next(before, byte);
    if (next == ByteDfa::kNone) {
      if (dfa.Accepts(before)) {
        tops.clear();
        stacks.Step(entry.parent, byte, tops);
        WalkBehind(stacks, i, tops);
        stacks.Release(mark);
      }
      i = vocabulary_.skip(i);
      continue;
    }
    const auto state = static_cast<uint32_t>(next);
    if (node.lengths != nullptr) {
      counts_[depth] = counts_[depth - 1] + (!dfa.IsInside(before) && byte != '"' ? 1 : 0);
      if (!node.lengths->Allows(state, counts_[depth], node.min, node.max)) {
        i = vocabulary_.skip(i);
        continue;
      }
    }
    if (dfa.IsLast(state)) {
      WalkBehind(stacks, i, {entry.parent});
      stacks.Release(mark);
      i = vocabulary_.skip(i);
      continue;
    }
    states_[depth] = next;
    SetTokensAt(i);
    ++i;
  }
}

void TokenMasks::WalkFreeText(Stacks& stacks, uint32_t top) {
  const Stacks::Entry entry = stacks.at(top);
  const TagShape& tags = *stacks.grammar().nodes[entry.frame.node].tags;
  states_.assign(vocabulary_.longest() + 1, 0);
  states_[0] = static_cast<int32_t>(entry.frame.detail);
  std::vector<uint32_t> tops;
  const size_t mark = stacks.Mark();
  const auto end = static_cast<uint32_t>(vocabulary_.node_count());
  for (uint32_t i = 1; i < end;) {
    ++steps_;
    const uint32_t depth = vocabulary_.depth(i);
    const auto before = static_cast<uint32_t>(states_[depth - 1]);
    const int32_t next = tags.Next(before, vocabulary_.byte(i));
    if (next >= 0) {
      states_[depth] = next;
      SetTokensAt(i);
      ++i;
      continue;
    }
    Frame frame = entry.frame;
    frame.detail = before;
    tops.clear();
    stacks.Step(stacks.Push(frame, entry.parent), vocabulary_.byte(i), tops);
    WalkBehind(stacks, i, tops);
    stacks.Release(mark);
    i = vocabulary_.skip(i);
  }
}

void TokenMasks::WalkSpelled(Stacks& stacks, uint32_t top) {
  const size_t mark = stacks.Mark();
  for (const Token token : spelled_) {
    std::vector<uint32_t> now = {top};
    for (const char c : vocabulary_.NameOf(token)) {
      std::vector<uint32_t> next;
      for (const uint32_t one : now) stacks.Step(one, static_cast<uint8_t>(c), next);
      stacks.Unify(next);
      now = std::move(next);
    }
    if (!now.empty()) SetBit(scratch_, token);
    stacks.Release(mark);
  }
}

TokenBits TokenMasks::WalkAll(Stacks& stacks, uint32_t top) const {
  TokenBits bits(vocabulary_.words());
  const size_t mark = stacks.Mark();
  for (Token token = 0; token < vocabulary_.size(); ++token) {
    const bool named = std::find(spelled_.begin(), spelled_.end(), token) != spelled_.end();
    const absl::string_view text = named ? vocabulary_.NameOf(token) : vocabulary_.Bytes(token);
    std::vector<uint32_t> now = {top};
    for (const char c : text) {
      std::vector<uint32_t> next;
      for (const uint32_t one : now) stacks.Step(one, static_cast<uint8_t>(c), next);
      stacks.Unify(next);
      now = std::move(next);
      if (now.empty()) break;
    }
    if (!text.empty() && !now.empty()) SetBit(bits, token);
    stacks.Release(mark);
  }
  return bits;
}

}  // namespace superfluid
