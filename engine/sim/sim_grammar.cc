#include "engine/sim/sim_grammar.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace superfluid {
namespace {

constexpr uint64_t kMaxDigits = 18;
constexpr uint64_t kMaxExponentDigits = 2;
constexpr absl::string_view kEscapes = "\"\\/bfnrt";

// States of an object or array; a string or tag has some of them.
enum Step : uint32_t { kOpen = 0, kFirst = 1, kAfterValue = 2, kNext = 3 };
enum StringStep : uint32_t { kQuote = 0, kText = 1, kEscape = 2 };
enum NumberStep : uint32_t {
  kStart = 0,
  kMinus = 1,
  kZero = 2,
  kWhole = 3,
  kPoint = 4,
  kFraction = 5,
  kExponent = 6,
  kSign = 7,
  kPower = 8,
};
enum TagStep : uint32_t { kFree = 0, kBegin = 1, kEnd = 2 };

bool IsDigit(uint8_t byte) { return absl::ascii_isdigit(byte); }

// Of texts[first, last] the first that agrees with the one before in its first `matched` bytes
// and has `byte` next; past the end: none.
size_t NextCandidate(const std::vector<std::string>& texts, size_t first, size_t last,
                     size_t matched, uint8_t byte) {
  const absl::string_view prefix = absl::string_view(texts[first]).substr(0, matched);
  for (size_t i = first; i <= last; ++i) {
    const absl::string_view text = texts[i];
    if (text.size() <= matched || text.substr(0, matched) != prefix) continue;
    if (static_cast<uint8_t>(text[matched]) == byte) return i;
  }
  return texts.size();
}

// The last property that may come next: the first required one, or the last of all.
size_t LastCandidate(const SimGrammarNode& node, size_t from) {
  for (size_t i = from; i < node.texts.size(); ++i) {
    if (node.required[i]) return i;
  }
  return node.texts.size() - 1;
}

bool NoneRequired(const SimGrammarNode& node, size_t from) {
  return std::none_of(node.required.begin() + static_cast<ptrdiff_t>(from), node.required.end(),
                      [](bool required) { return required; });
}

}  // namespace

SimMatcher::SimMatcher(const SimGrammar& grammar) : grammar_(&grammar) {
  stack_.push_back({grammar.root});
}

SimMatcher::Fed SimMatcher::Feed(Frame& frame, uint8_t byte) {
  const Node& node = NodeOf(frame);
  switch (node.kind) {
    case Node::Kind::kObject:
      return FeedObject(frame, node, byte);
    case Node::Kind::kArray:
      return FeedArray(frame, node, byte);
    case Node::Kind::kString:
      return FeedString(frame, node, byte);
    case Node::Kind::kNumber:
      return FeedNumber(frame, node, byte);
    case Node::Kind::kLiterals:
      return FeedLiterals(frame, node, byte);
    case Node::Kind::kTags:
      return FeedTags(frame, node, byte);
  }
  return Fed::kRefused;
}

SimMatcher::Fed SimMatcher::FeedObject(Frame& frame, const Node& node, uint8_t byte) {
  const bool more = frame.count < node.texts.size();
  switch (frame.state) {
    case kOpen:
      frame.state = kFirst;
      return byte == '{' ? Fed::kTaken : Fed::kRefused;
    case kAfterValue:
      if (byte == '}') return NoneRequired(node, frame.count) ? Fed::kEnded : Fed::kRefused;
      frame.state = kNext;
      frame.first = frame.count;
      frame.matched = 0;
      return byte == ',' && more ? Fed::kTaken : Fed::kRefused;
    case kFirst:
      if (byte == '}') return NoneRequired(node, 0) ? Fed::kEnded : Fed::kRefused;
      frame.state = kNext;
      break;
    default:
      break;
  }
  return more ? FeedKey(frame, node, byte) : Fed::kRefused;
}

SimMatcher::Fed SimMatcher::FeedKey(Frame& frame, const Node& node, uint8_t byte) {
  const size_t last = LastCandidate(node, frame.count);
  frame.first = NextCandidate(node.texts, frame.first, last, frame.matched, byte);
  if (frame.first == node.texts.size()) return Fed::kRefused;
  if (++frame.matched < node.texts[frame.first].size()) return Fed::kTaken;
  frame.state = kAfterValue;
  frame.count = frame.first + 1;
  push_ = node.children[frame.first];
  return Fed::kPushed;
}

SimMatcher::Fed SimMatcher::FeedArray(Frame& frame, const Node& node, uint8_t byte) {
  switch (frame.state) {
    case kOpen:
      frame.state = kFirst;
      return byte == '[' ? Fed::kTaken : Fed::kRefused;
    case kAfterValue:
      if (byte == ']') return frame.count >= node.min ? Fed::kEnded : Fed::kRefused;
      frame.state = kNext;
      return byte == ',' && frame.count < node.max ? Fed::kTaken : Fed::kRefused;
    case kFirst:
      if (byte == ']') return node.min == 0 ? Fed::kEnded : Fed::kRefused;
      if (node.max == 0) return Fed::kRefused;
      break;
    default:
      break;
  }
  frame.state = kAfterValue;
  ++frame.count;
  push_ = node.children[0];
  return Fed::kPushedThen;
}

SimMatcher::Fed SimMatcher::FeedString(Frame& frame, const Node& node, uint8_t byte) {
  if (frame.state == kQuote) {
    frame.state = kText;
    return byte == '"' ? Fed::kTaken : Fed::kRefused;
  }
  if (frame.state == kEscape) {
    frame.state = kText;
    ++frame.count;
    const bool known = kEscapes.find(static_cast<char>(byte)) != absl::string_view::npos;
    return known ? Fed::kTaken : Fed::kRefused;
  }
  if (byte == '"') return frame.count >= node.min ? Fed::kEnded : Fed::kRefused;
  if (frame.count >= node.max || !absl::ascii_isprint(byte)) return Fed::kRefused;
  if (byte == '\\') {
    frame.state = kEscape;
  } else {
    ++frame.count;
  }
  return Fed::kTaken;
}

// One case a state of the JSON number; apart they would be harder to read.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
SimMatcher::Fed SimMatcher::FeedNumber(Frame& frame, const Node& node, uint8_t byte) {
  const auto go = [&frame](NumberStep state, uint64_t count) {
    frame.state = state;
    frame.count = count;
    return Fed::kTaken;
  };
  const bool digit = IsDigit(byte);
  const bool exponent = byte == 'e' || byte == 'E';
  switch (frame.state) {
    case kStart:
      if (byte == '-') return go(kMinus, 0);
      [[fallthrough]];
    case kMinus:
      if (!digit) return Fed::kRefused;
      return byte == '0' ? go(kZero, 1) : go(kWhole, 1);
    case kZero:
    case kWhole:
      if (digit && frame.state == kWhole && frame.count < kMaxDigits) {
        return go(kWhole, frame.count + 1);
      }
      if (!node.integer && byte == '.') return go(kPoint, 0);
      return !node.integer && exponent ? go(kExponent, 0) : Fed::kEndedThen;
    case kPoint:
      return digit ? go(kFraction, 1) : Fed::kRefused;
    case kFraction:
      if (digit && frame.count < kMaxDigits) return go(kFraction, frame.count + 1);
      return exponent ? go(kExponent, 0) : Fed::kEndedThen;
    case kExponent:
      if (byte == '+' || byte == '-') return go(kSign, 0);
      [[fallthrough]];
    case kSign:
      return digit ? go(kPower, 1) : Fed::kRefused;
    default:
      if (digit && frame.count < kMaxExponentDigits) return go(kPower, frame.count + 1);
      return Fed::kEndedThen;
  }
}

SimMatcher::Fed SimMatcher::FeedLiterals(Frame& frame, const Node& node, uint8_t byte) {
  const size_t next =
      NextCandidate(node.texts, frame.first, node.texts.size() - 1, frame.matched, byte);
  if (next == node.texts.size()) return MayEnd(frame) ? Fed::kEndedThen : Fed::kRefused;
  frame.first = next;
  ++frame.matched;
  return Fed::kTaken;
}

SimMatcher::Fed SimMatcher::FeedTags(Frame& frame, const Node& node, uint8_t byte) {
  if (frame.state == kFree) return FeedFreeText(frame, node, byte);
  return frame.state == kBegin ? FeedBegin(frame, node, byte) : FeedEnd(frame, node, byte);
}

// The longest trigger that the text now ends with begins a tag.
SimMatcher::Fed SimMatcher::FeedFreeText(Frame& frame, const Node& node, uint8_t byte) {
  size_t longest = 0;
  for (const std::string& trigger : node.triggers) longest = std::max(longest, trigger.size());
  tail_.push_back(static_cast<char>(byte));
  if (tail_.size() > longest) tail_.erase(0, 1);
  const std::string* found = nullptr;
  for (const std::string& trigger : node.triggers) {
    if (!absl::string_view(tail_)
             .substr(tail_.size() - std::min(tail_.size(), trigger.size()))
             .compare(trigger) &&
        (found == nullptr || trigger.size() > found->size())) {
      found = &trigger;
    }
  }
  if (found == nullptr) return Fed::kTaken;
  tail_.clear();
  frame.state = kBegin;
  frame.matched = found->size();
  const auto starts = [found](const std::string& text) { return text.rfind(*found, 0) == 0; };
  frame.first = static_cast<size_t>(std::find_if(node.texts.begin(), node.texts.end(), starts) -
                                    node.texts.begin());
  if (node.texts[frame.first].size() > frame.matched) return Fed::kTaken;
  frame.state = kEnd;
  frame.matched = 0;
  push_ = node.children[frame.first];
  return Fed::kPushed;
}

SimMatcher::Fed SimMatcher::FeedBegin(Frame& frame, const Node& node, uint8_t byte) {
  frame.first = NextCandidate(node.texts, frame.first, node.texts.size() - 1, frame.matched, byte);
  if (frame.first == node.texts.size()) return Fed::kRefused;
  if (++frame.matched < node.texts[frame.first].size()) return Fed::kTaken;
  frame.state = kEnd;
  frame.matched = 0;
  push_ = node.children[frame.first];
  return Fed::kPushed;
}

SimMatcher::Fed SimMatcher::FeedEnd(Frame& frame, const Node& node, uint8_t byte) {
  const std::string& end = node.ends[frame.first];
  if (static_cast<uint8_t>(end[frame.matched]) != byte) return Fed::kRefused;
  if (++frame.matched == end.size()) frame = Frame{frame.node};
  return Fed::kTaken;
}

bool SimMatcher::MayEnd(const Frame& frame) const {
  const Node& node = NodeOf(frame);
  switch (node.kind) {
    case Node::Kind::kNumber:
      return frame.state == kZero || frame.state == kWhole || frame.state == kFraction ||
             frame.state == kPower;
    case Node::Kind::kLiterals:
      // They are sorted, so the shortest candidate is the first.
      return node.texts[frame.first].size() == frame.matched;
    case Node::Kind::kTags:
      return frame.state == kFree;
    default:
      return false;  // these end with a byte of their own
  }
}

bool SimMatcher::AdvanceByte(uint8_t byte) {
  while (!stack_.empty()) {
    switch (Feed(stack_.back(), byte)) {
      case Fed::kTaken:
        return true;
      case Fed::kRefused:
        return false;
      case Fed::kEnded:
        stack_.pop_back();
        return true;
      case Fed::kEndedThen:
        stack_.pop_back();
        break;
      case Fed::kPushed:
        stack_.push_back({push_});
        return true;
      case Fed::kPushedThen:
        stack_.push_back({push_});
        break;
    }
  }
  return false;
}

bool SimMatcher::Advance(Token token) {
  if (token == kSimEndOfText) {
    ended_ = ended_ || Complete();
    return ended_;
  }
  return !ended_ && token <= UINT8_MAX && AdvanceByte(static_cast<uint8_t>(token));
}

bool SimMatcher::Complete() const {
  return stack_.empty() || (stack_.size() == 1 && MayEnd(stack_.back()));
}

SimByteSet SimMatcher::Allowed() const {
  SimByteSet allowed;
  for (Token token = 0; token < allowed.size(); ++token) {
    SimMatcher trial = *this;
    allowed[token] = trial.Advance(token);
  }
  return allowed;
}

}  // namespace superfluid
