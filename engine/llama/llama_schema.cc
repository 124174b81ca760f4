#include "engine/llama/llama_schema.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/llama/free_text.h"
#include "engine/llama/gbnf_text.h"
#include "engine/llama/gbnf_writer.h"
#include "engine/llama/schema_readings.h"
#include "engine/sampling/json_schema.h"
#include "engine/sampling/tag_spec.h"

namespace superfluid {
namespace {

constexpr size_t kMaxTriggerCharacters = 512;
constexpr size_t kMaxEdges = size_t{1} << 14U;  // of the automaton that looks for triggers
// The library goes through all rules for each reading when a text begins.
constexpr size_t kMaxStartCost = size_t{1} << 25U;

absl::StatusOr<std::string> Finish(GbnfWriter& writer, size_t at_start) {
  if (absl::Status status = writer.Check(); !status.ok()) return status;
  if (at_start * writer.size() > kMaxStartCost) {
    return BadSchema("it makes too large a grammar for so many alternatives at its start");
  }
  return writer.Take();
}

std::string StateName(size_t state) { return absl::StrCat("free-", state); }
std::string FoundName(size_t trigger) { return absl::StrCat("found-", trigger); }

std::string Escaped(char32_t character) {
  return absl::StrFormat("\\U%08X", static_cast<uint32_t>(character));
}

// The rules of free text with tags in it: a rule for each state of the automaton that looks for the
// triggers. A text may end in any of them.
class TagRules {
 public:
  explicit TagRules(const TagSpec& tags) : tags_(tags) {
    for (const std::string& trigger : tags.triggers) triggers_.push_back(CodePoints(trigger));
  }

  absl::StatusOr<std::string> Build() {
    if (absl::Status status = CheckTriggers(); !status.ok()) return status;
    for (const TagStructure& tag : tags_.structures) {
      const auto readings = CountReadings(tag.schema);
      if (!readings.ok()) return readings.status();
      values_.push_back(writer_.AddSchema(tag.schema, absl::StrCat("v", values_.size(), "-")));
      if (absl::Status status = writer_.Check(); !status.ok()) return status;
    }
    for (size_t i = 0; i < tags_.triggers.size(); ++i) AddFound(i);
    const FreeText text = MakeFreeText(triggers_);
    for (size_t i = 0; i < text.states.size(); ++i) AddState(i, text.states[i]);
    writer_.AddRule("root", StateName(0));
    return Finish(writer_, text.states[0].size() + 2);
  }

 private:
  absl::Status CheckTriggers() const {
    size_t length = 0;
    std::set<char32_t> characters;
    for (const std::u32string& trigger : triggers_) {
      length += trigger.size();
      characters.insert(trigger.begin(), trigger.end());
    }
    if (length > kMaxTriggerCharacters || length * characters.size() > kMaxEdges) {
      return BadSchema("the triggers are too long or too many");
    }
    return absl::OkStatus();
  }

  // What follows a trigger.
  void AddFound(size_t trigger) {
    std::string rule;
    for (size_t i = 0; i < tags_.structures.size(); ++i) {
      const TagStructure& tag = tags_.structures[i];
      if (!absl::StartsWith(tag.begin, tags_.triggers[trigger])) continue;
      const std::string rest = tag.begin.substr(tags_.triggers[trigger].size());
      absl::StrAppend(&rule, rule.empty() ? "" : " | ", GbnfLiteral(rest), " ", values_[i], " ",
                      GbnfLiteral(tag.end), " ", StateName(0));
    }
    writer_.AddRule(FoundName(trigger), rule);
  }

  void AddState(size_t state, const std::vector<FreeText::Edge>& edges) {
    std::string others = "[^";
    std::string rule;
    for (const FreeText::Edge& edge : edges) {
      absl::StrAppend(&others, Escaped(edge.character));
      const std::string next = edge.found == nullptr
                                   ? StateName(edge.state)
                                   : FoundName(static_cast<size_t>(edge.found - triggers_.data()));
      absl::StrAppend(&rule, " | \"", Escaped(edge.character), "\" ", next);
    }
    writer_.AddRule(StateName(state), absl::StrCat(others, "] ", StateName(0), rule, " | \"\""));
  }

  const TagSpec& tags_;
  GbnfWriter writer_;
  std::vector<std::u32string> triggers_;
  std::vector<std::string> values_;  // names of rules
};

}  // namespace

absl::StatusOr<std::string> GbnfOfSchema(absl::string_view json) {
  const absl::StatusOr<JsonSchema> schema = ParseJsonSchema(json);
  if (!schema.ok()) return schema.status();
  const absl::StatusOr<SchemaReadings> readings = CountReadings(*schema);
  if (!readings.ok()) return readings.status();
  GbnfWriter writer;
  writer.AddRule("root", writer.AddSchema(*schema, "n"));
  return Finish(writer, readings->at_start);
}

absl::StatusOr<std::string> GbnfOfTags(absl::string_view json) {
  const absl::StatusOr<TagSpec> tags = ParseTagSpec(json);
  if (!tags.ok()) return tags.status();
  return TagRules(*tags).Build();
}

}  // namespace superfluid
