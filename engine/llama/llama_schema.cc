#include "engine/llama/llama_schema.h"

#include <json-schema-to-grammar.h>

#include <exception>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/llama/free_text.h"
#include "engine/llama/schema_check.h"

namespace superfluid {
namespace {

constexpr size_t kMaxGrammarBytes = size_t{1} << 20U;
constexpr size_t kMaxTriggerCharacters = 512;

absl::Status Refused(const std::exception& error) {
  return absl::InvalidArgumentError(absl::StrCat("the grammar's schema: ", error.what()));
}

absl::StatusOr<std::string> Checked(std::string grammar) {
  if (grammar.size() <= kMaxGrammarBytes) return grammar;
  return absl::InvalidArgumentError("the grammar's schema: it makes too large a grammar");
}

std::string StateName(size_t state) { return absl::StrCat("free-", state); }

std::string Escaped(char32_t character) {
  return absl::StrFormat("\\U%08X", static_cast<uint32_t>(character));
}

std::string Literal(const std::u32string& text) {
  std::string literal = "\"";
  for (const char32_t character : text) literal += Escaped(character);
  return literal + "\"";
}

// The rules of free text with tags in it: a rule for each state of the automaton that looks for the
// triggers. A text may end in any of them.
class TagRules {
 public:
  TagRules(const TagSpec& tags, const common_grammar_builder& builder)
      : tags_(tags), builder_(builder) {
    for (const std::string& trigger : tags.triggers) triggers_.push_back(CodePoints(trigger));
    for (const TagStructure& tag : tags.structures) begins_.push_back(CodePoints(tag.begin));
  }

  void Build() {
    size_t characters = 0;
    for (const std::u32string& trigger : triggers_) characters += trigger.size();
    if (characters > kMaxTriggerCharacters) throw std::runtime_error("the triggers are too long");
    for (const TagStructure& tag : tags_.structures) {
      schemas_.push_back(common_chat_schema_from_json(common_json::parse(tag.schema)));
      const std::string name = absl::StrCat("value-", values_.size());
      values_.push_back(builder_.add_schema(name, *schemas_.back().root));
    }
    const FreeText text = MakeFreeText(triggers_);
    for (size_t i = 0; i < text.states.size(); ++i) {
      builder_.add_rule(StateName(i), RuleOf(text.states[i]));
    }
    builder_.add_rule("root", StateName(0));
  }

 private:
  std::string RuleOf(const std::vector<FreeText::Edge>& edges) const {
    std::string others = "[^";
    std::string rule;
    for (const FreeText::Edge& edge : edges) {
      absl::StrAppend(&others, Escaped(edge.character));
      const std::string character = Literal({edge.character});
      if (edge.found == nullptr) {
        absl::StrAppend(&rule, " | ", character, " ", StateName(edge.state));
      } else {
        AddTags(character, *edge.found, rule);
      }
    }
    return absl::StrCat(others, "] ", StateName(0), rule, " | \"\"");
  }

  void AddTags(const std::string& character, const std::u32string& trigger,
               std::string& rule) const {
    for (size_t i = 0; i < begins_.size(); ++i) {
      if (!begins_[i].starts_with(trigger)) continue;
      absl::StrAppend(&rule, " | ", character, " ", Literal(begins_[i].substr(trigger.size())), " ",
                      values_[i], " ", Literal(CodePoints(tags_.structures[i].end)), " ",
                      StateName(0));
    }
  }

  const TagSpec& tags_;
  const common_grammar_builder& builder_;
  std::vector<std::u32string> triggers_;
  std::vector<std::u32string> begins_;
  std::vector<common_chat_schema_document> schemas_;
  std::vector<std::string> values_;  // names of rules
};

}  // namespace

absl::StatusOr<std::string> GbnfOfSchema(absl::string_view json) {
  const auto schema = ParseSchemaJson(json);
  if (!schema.ok()) return schema.status();
  if (absl::Status status = CheckSchema(*schema); !status.ok()) return status;
  try {
    return Checked(json_schema_to_grammar(common_json::parse(schema->dump()), /*force_gbnf=*/true));
  } catch (const std::exception& error) {
    return Refused(error);
  }
}

absl::StatusOr<std::string> GbnfOfTags(absl::string_view json) {
  const absl::StatusOr<TagSpec> tags = ParseTags(json);
  if (!tags.ok()) return tags.status();
  try {
    return Checked(build_grammar(
        [&tags](const common_grammar_builder& builder) { TagRules(*tags, builder).Build(); }));
  } catch (const std::exception& error) {
    return Refused(error);
  }
}

}  // namespace superfluid
