#include "engine/constrain/tag_spec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr size_t kMaxTags = 64;
constexpr size_t kMaxTagBytes = 256;
constexpr size_t kMaxTriggerBytes = 4096;  // of all

std::string ReadText(const JsonValue* value, absl::string_view name, CompileBudget& budget) {
  const bool good = value != nullptr && value->IsString() && !value->text.empty() &&
                    value->text.size() <= kMaxTagBytes &&
                    value->text.find('\0') == std::string::npos;
  if (good) return value->text;
  budget.Fail(BadSchema(
      absl::StrCat("'", name, "' is not a text of 1 to ", kMaxTagBytes, " bytes without NUL")));
  return "";
}

// Returns the members of an array of 1 to kMaxTags; none after a failure.
std::vector<const JsonValue*> ReadList(const JsonValue& value, absl::string_view name,
                                       CompileBudget& budget) {
  const JsonValue* list = value.Find(name);
  const bool good = list != nullptr && list->IsArray() && !list->items.empty();
  if (good && list->items.size() <= kMaxTags) return list->items;
  budget.Fail(BadSchema(absl::StrCat("'", name, "' is not an array of 1 to ", kMaxTags)));
  return {};
}

void CheckTags(const TagSpec& tags, CompileBudget& budget) {
  for (const std::string& trigger : tags.triggers) {
    const bool starts = std::any_of(
        tags.structures.begin(), tags.structures.end(),
        [&](const TagSpec::Structure& tag) { return absl::StartsWith(tag.begin, trigger); });
    if (!starts) budget.Fail(BadSchema("a trigger starts no begin"));
  }
  for (const TagSpec::Structure& tag : tags.structures) {
    const bool triggered = std::any_of(
        tags.triggers.begin(), tags.triggers.end(),
        [&](const std::string& trigger) { return absl::StartsWith(tag.begin, trigger); });
    if (!triggered) budget.Fail(BadSchema("a begin starts with no trigger"));
    for (const TagSpec::Structure& other : tags.structures) {
      if (&other != &tag && absl::StartsWith(other.begin, tag.begin)) {
        budget.Fail(BadSchema("a begin starts another"));
      }
    }
  }
}

// Finds triggers in text.
class TriggerFinder {
 public:
  explicit TriggerFinder(const std::vector<std::string>& triggers) {
    AddState();
    for (size_t i = 0; i < triggers.size(); ++i) {
      size_t state = 0;
      for (const char c : triggers[i]) {
        const size_t cell = state * 256 + static_cast<uint8_t>(c);
        if (next_[cell] < 0) {
          const size_t added = AddState();
          next_[cell] = static_cast<int32_t>(added);
        }
        state = static_cast<size_t>(next_[cell]);
      }
      found_[state] = static_cast<int32_t>(i);
    }
    Complete();
  }

  size_t size() const { return found_.size(); }
  size_t Next(size_t state, size_t byte) const {
    return static_cast<size_t>(next_[state * 256 + byte]);
  }
  // Returns the longest trigger that a text in this state ends with; below 0: there is none.
  int32_t Found(size_t state) const { return found_[state]; }

 private:
  size_t AddState() {
    next_.resize(next_.size() + 256, -1);
    found_.push_back(-1);
    return found_.size() - 1;
  }

  // Breadth first: where a prefix has no next byte, its longest proper suffix decides.
  void Complete() {
    std::vector<size_t> suffix(size());
    std::vector<size_t> order = {0};
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t state = order[i];
      if (found_[state] < 0) found_[state] = found_[suffix[state]];
      for (size_t byte = 0; byte < 256; ++byte) {
        const size_t cell = state * 256 + byte;
        const size_t shorter = state == 0 ? 0 : Next(suffix[state], byte);
        if (next_[cell] < 0) {
          next_[cell] = static_cast<int32_t>(shorter);
          continue;
        }
        order.push_back(static_cast<size_t>(next_[cell]));
        suffix[order.back()] = shorter;
      }
    }
  }

  std::vector<int32_t> next_;
  std::vector<int32_t> found_;
};

}  // namespace

TagSpec ReadTagSpec(const JsonValue& value, CompileBudget& budget) {
  TagSpec tags;
  for (const JsonValue* structure : ReadList(value, "structures", budget)) {
    TagSpec::Structure& tag = tags.structures.emplace_back();
    tag.begin = ReadText(structure->Find("begin"), "begin", budget);
    tag.end = ReadText(structure->Find("end"), "end", budget);
    tag.schema = structure->Find("schema");
    const bool good = tag.schema != nullptr && tag.schema->IsObject();
    if (!good) budget.Fail(BadSchema("a structure without a schema"));
  }
  size_t bytes = 0;
  for (const JsonValue* trigger : ReadList(value, "triggers", budget)) {
    tags.triggers.push_back(ReadText(trigger, "triggers", budget));
    bytes += tags.triggers.back().size();
  }
  if (bytes > kMaxTriggerBytes) budget.Fail(BadSchema("the triggers are too long or too many"));
  if (!budget.failed()) CheckTags(tags, budget);
  return tags;
}

std::unique_ptr<TagShape> MakeTagShape(const TagSpec& spec, std::vector<uint32_t> values,
                                       CompileBudget& budget) {
  auto shape = std::make_unique<TagShape>();
  shape->values = std::move(values);
  for (size_t i = 0; i < spec.structures.size(); ++i) {
    shape->ends.push_back(spec.structures[i].end);
    shape->begins.Add(spec.structures[i].begin, static_cast<int32_t>(i), budget);
  }
  const TriggerFinder finder(spec.triggers);
  const size_t cells = finder.size() * 256;
  if (!budget.Spend(cells) || !budget.Hold(cells * sizeof(int32_t))) return shape;
  std::vector<int32_t> nodes;  // of each trigger in `begins`
  for (const std::string& trigger : spec.triggers) {
    uint32_t node = 0;
    for (const char c : trigger) node = shape->begins.Next(node, static_cast<uint8_t>(c));
    nodes.push_back(static_cast<int32_t>(node));
  }
  for (size_t cell = 0; cell < cells; ++cell) {
    const size_t to = finder.Next(cell / 256, cell % 256);
    const int32_t found = finder.Found(to);
    shape->next.push_back(found < 0 ? static_cast<int32_t>(to)
                                    : ~nodes[static_cast<size_t>(found)]);
  }
  return shape;
}

}  // namespace superfluid
