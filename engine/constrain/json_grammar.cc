#include "engine/constrain/json_grammar.h"

#include <utility>
#include <vector>

#include "engine/constrain/json_document.h"
#include "engine/constrain/regular_expression.h"
#include "engine/constrain/schema_compiler.h"
#include "engine/constrain/tag_spec.h"

namespace superfluid {
namespace {

absl::StatusOr<std::shared_ptr<const Grammar>> Finish(std::shared_ptr<Grammar> grammar,
                                                      CompileBudget& budget) {
  FinishGrammar(*grammar, budget);
  if (budget.failed()) return budget.status();
  return std::shared_ptr<const Grammar>(std::move(grammar));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Grammar>> CompileJsonSchema(absl::string_view schema,
                                                                 const CallControl& control) {
  CompileBudget budget(control);
  JsonDocument document;
  auto grammar = std::make_shared<Grammar>();
  const JsonValue* root = document.Read(schema, budget);
  if (root != nullptr && !root->IsObject()) budget.Fail(BadSchema("no JSON object"));
  if (budget.failed()) return budget.status();
  grammar->root = SchemaCompiler(*root, document, *grammar, budget).Compile();
  return Finish(std::move(grammar), budget);
}

absl::StatusOr<std::shared_ptr<const Grammar>> CompileTags(absl::string_view tags,
                                                           const CallControl& control) {
  CompileBudget budget(control);
  JsonDocument document;
  auto grammar = std::make_shared<Grammar>();
  const JsonValue* root = document.Read(tags, budget);
  if (budget.failed()) return budget.status();
  const TagSpec spec = ReadTagSpec(*root, budget);
  std::vector<uint32_t> values;
  for (const TagSpec::Structure& structure : spec.structures) {
    if (budget.failed()) return budget.status();
    values.push_back(SchemaCompiler(*structure.schema, document, *grammar, budget).Compile());
  }
  GrammarNode node;
  node.kind = GrammarNode::Kind::kTags;
  node.tags = MakeTagShape(spec, std::move(values), budget);
  grammar->nodes.push_back(std::move(node));
  grammar->root = static_cast<uint32_t>(grammar->nodes.size() - 1);
  grammar->start = Grammar::Start::kText;
  return Finish(std::move(grammar), budget);
}

absl::StatusOr<std::shared_ptr<const Grammar>> CompileExpression(absl::string_view expression,
                                                                 const CallControl& control) {
  CompileBudget budget(control);
  auto grammar = std::make_shared<Grammar>();
  std::optional<ByteDfa> dfa = WholeTextDfa(expression, budget);
  GrammarNode node;
  if (dfa.has_value()) {
    node.kind = GrammarNode::Kind::kAutomaton;
    node.automaton = std::make_shared<const ByteDfa>(*std::move(dfa));
  }
  grammar->nodes.push_back(std::move(node));
  grammar->start = Grammar::Start::kText;
  return Finish(std::move(grammar), budget);
}

}  // namespace superfluid
