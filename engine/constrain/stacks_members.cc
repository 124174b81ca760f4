#include <algorithm>

#include "engine/constrain/stacks.h"
#include "engine/constrain/string_table.h"

// Of Stacks: objects and tags.
namespace superfluid {
namespace {

using Phase = Frame::Phase;

}  // namespace

Stacks::Range Stacks::RangeOf(const GrammarNode& node, const Frame& frame) {
  const ObjectShape& object = *node.object;
  const auto count = static_cast<uint32_t>(object.properties.size());
  const uint32_t required = object.next_required[frame.position];
  const bool full = frame.count >= node.max;
  Range range;
  range.extra = object.extra != kNoNode && required == count && !full;
  range.low = frame.position;
  uint32_t end = std::min(required + 1, count);
  if (node.max < kNoLimit && object.required_left[frame.position] == node.max - frame.count) {
    range.low = required;  // No room is left for one that may be left out.
  }
  if (object.extra == kNoNode && node.min > 0) {
    end = std::min(end, count - node.min + frame.count + 1);  // Enough must be left.
  }
  range.any = !full && range.low < end;
  range.high = end - 1;
  return range;
}

void Stacks::CountMember(const GrammarNode& node, Frame& frame) {
  if (node.max < kNoLimit || node.min > 0) ++frame.count;
}

void Stacks::StepObject(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte,
                        Tops& out) {
  switch (frame.phase) {
    case Phase::kStart:
      if (byte != '{') return;
      frame.phase = Phase::kFirst;
      return Keep(frame, parent, out);
    case Phase::kName:
      return StepName(node, frame, parent, byte, out);
    default:
      break;
  }
  if (TakeBlank(frame, byte)) return Keep(frame, parent, out);
  frame.blanks = 0;
  if (frame.phase == Phase::kColon) {
    if (byte != ':') return;
    frame.phase = Phase::kValue;
    return Keep(frame, parent, out);
  }
  if (frame.phase != Phase::kValue) return StepMember(node, frame, parent, byte, out);
  const uint32_t value = frame.detail;
  frame.phase = Phase::kNext;
  frame.detail = 0;
  OpenValue(frame, parent, value, byte, out);
}

// Between members.
void Stacks::StepMember(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte,
                        Tops& out) {
  const ObjectShape& object = *node.object;
  if (byte == '}') {
    const bool complete = object.next_required[frame.position] == object.properties.size();
    const bool ends = frame.phase != Phase::kMore && complete && frame.count >= node.min;
    if (ends) out.push_back(parent);
    return;
  }
  const Range range = RangeOf(node, frame);
  if (!range.any && !range.extra) return;
  if (frame.phase == Phase::kNext) {
    if (byte != ',') return;
    frame.phase = Phase::kMore;
    return Keep(frame, parent, out);
  }
  if (byte != '"') return;
  frame.phase = Phase::kName;
  frame.detail = object.keys.IsEmpty() ? kNoNode : 0;
  frame.part = range.extra ? StringTable::kBetween : StringTable::kBeforeQuote;
  Keep(frame, parent, out);
}

void Stacks::StepName(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte,
                      Tops& out) {
  const ObjectShape& object = *node.object;
  const Range range = RangeOf(node, frame);
  uint32_t key = frame.detail == kNoNode ? kNoNode : object.keys.Next(frame.detail, byte);
  if (key != kNoNode && object.keys.node(key).leaf != KeyTrie::kInner) {
    const int32_t leaf = object.keys.node(key).leaf;
    const auto position = static_cast<uint32_t>(leaf);
    if (leaf < 0 || !range.any || position < range.low || position > range.high) return;
    frame.phase = Phase::kColon;
    frame.position = position + 1;
    frame.detail = object.properties[position].node;
    frame.part = 0;
    CountMember(node, frame);
    return Keep(frame, parent, out);
  }
  if (!range.extra) {
    const bool reaches =
        key != kNoNode && range.any && object.keys.Reaches(key, range.low, range.high);
    if (!reaches) return;
    frame.detail = key;
    return Keep(frame, parent, out);
  }
  const uint8_t next = StringTable::OfNames().Next(frame.part, byte);
  if (next == StringTable::kNone) return;
  frame.part = next;
  frame.detail = key;
  if (next == StringTable::kClosed || key == kNoNode) {
    frame.position = static_cast<uint32_t>(object.properties.size());  // No named one can come.
  }
  if (next == StringTable::kClosed) {
    frame.phase = Phase::kColon;
    frame.detail = object.extra;
    frame.part = 0;
    CountMember(node, frame);
  }
  Keep(frame, parent, out);
}

void Stacks::StepTags(const GrammarNode& node, Frame frame, uint32_t parent, uint8_t byte,
                      Tops& out) {
  const TagShape& tags = *node.tags;
  uint32_t begin = kNoNode;
  switch (frame.phase) {
    case Phase::kFree: {
      const int32_t next = tags.Next(frame.detail, byte);
      if (next >= 0) {
        frame.detail = static_cast<uint32_t>(next);
        return Keep(frame, parent, out);
      }
      begin = static_cast<uint32_t>(~next);
      break;
    }
    case Phase::kName:
      begin = tags.begins.Next(frame.detail, byte);
      if (begin == kNoNode) return;
      break;
    case Phase::kTagValue:
      frame.phase = Phase::kTagEnd;
      return OpenValue(frame, parent, tags.values[frame.position], byte, out);
    default: {
      const std::string& end = tags.ends[frame.position];
      if (static_cast<uint8_t>(end[frame.count]) != byte) return;
      if (++frame.count == end.size()) {
        frame.phase = Phase::kFree;
        frame.position = 0;
        frame.count = 0;
      }
      return Keep(frame, parent, out);
    }
  }
  const int32_t structure = tags.begins.node(begin).leaf;
  frame.phase = structure < 0 ? Phase::kName : Phase::kTagValue;
  frame.detail = structure < 0 ? begin : 0;
  frame.position = structure < 0 ? 0 : static_cast<uint32_t>(structure);
  Keep(frame, parent, out);
}

}  // namespace superfluid
