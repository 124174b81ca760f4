// Measures grammars: what a schema costs to compile, what a mask costs, and what a tick of 64 lanes
// does, over vocabularies of 128,000 and 200,000 tokens that are made up (synthetic_tokens.h).
//
// usage: grammar_benchmark [--benchmark_filter=NAME ...]
//
// Runs in the repository's root, as `bazel run` does. The schemas are some of the tests' corpus,
// and two that are larger. Names: what is measured / schema / vocabulary.
//
//   compile    the whole of CREATE_GRAMMAR, but for the vocabulary's trie
//   vocabulary that trie, once a model
//   first      a token (mask and accept) of a text, with no mask made yet
//   warm       a token of a text, with all masks made: find, and accept
//   gather     as warm, and the candidates gathered from as many logits as tokens
//   tick       all of that for 64 lanes, each with a text of its own
//   walk       a mask without cache and shortcuts, for comparison

#include <benchmark/benchmark.h>

#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/constrain/json_grammar.h"
#include "engine/constrain/lane_constraint.h"
#include "tests/engine/constrain/synthetic_tokens.h"
#include "tests/engine/constrain/text_drawer.h"

namespace superfluid {
namespace {

constexpr char kCorpus[] = "tests/engine/constrain/corpus/schemas.jsonl";
constexpr size_t kTexts = 32;
constexpr size_t kLanes = 64;
constexpr const char* kChosen[] = {
    "true-object", "strict-20",   "catalogue-any",        "tree",         "number-unit",
    "pattern-sku", "length-long", "tool-extract_invoice", "optional-many"};

using Schemas = std::map<std::string, std::string>;

// A vocabulary, and for each schema its grammar with some texts. Made when first asked for.
class Workload {
 public:
  explicit Workload(size_t size) : vocabulary_(testing::SyntheticTokens(size)) {}

  struct Case {
    std::shared_ptr<TokenGrammar> grammar;
    std::vector<std::vector<Token>> texts;
  };

  Case& Of(const std::string& name, const std::string& schema) {
    Case& made = cases_[name];
    if (made.grammar != nullptr) return made;
    const auto compiled = CompileJsonSchema(schema, {});
    if (!compiled.ok()) {
      std::cerr << name << ": " << compiled.status() << "\n";
      exit(1);
    }
    made.grammar = std::make_shared<TokenGrammar>(*compiled, vocabulary_, budget_, "");
    std::mt19937_64 random(7);
    testing::TextDrawer drawer(vocabulary_, random);
    for (int tries = 0; made.texts.size() < kTexts && tries < 200; ++tries) {
      std::vector<Token> text = drawer.DrawTokens(made.grammar);
      if (text.size() > 1) made.texts.push_back(std::move(text));
    }
    return made;
  }
  size_t size() const { return vocabulary_.size(); }

 private:
  Vocabulary vocabulary_;
  MaskBudget budget_;
  std::map<std::string, Case> cases_;
};

void SetPerToken(benchmark::State& state, size_t tokens) {
  state.counters["per_token"] = benchmark::Counter(
      static_cast<double>(tokens), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void Compile(benchmark::State& state, const std::string& schema) {
  size_t bytes = 0;
  for (auto _ : state) {
    const auto compiled = CompileJsonSchema(schema, {});
    bytes = (*compiled)->bytes;
    benchmark::DoNotOptimize(compiled);
  }
  state.counters["kB"] = static_cast<double>(bytes) / 1000;
}

// Reads a text; `at_token` is called in front of each token.
template <typename AtToken>
size_t ReadText(const Workload::Case& one, size_t text, AtToken at_token) {
  LaneConstraint lane(one.grammar);
  for (const Token token : one.texts[text]) {
    at_token(lane);
    if (!lane.Accept(token)) exit(1);
  }
  return one.texts[text].size();
}

void First(benchmark::State& state, Workload::Case& one) {
  std::vector<float> logits;
  std::vector<TokenLogit> out;
  size_t tokens = 0;
  size_t text = 0;
  for (auto _ : state) {
    state.PauseTiming();
    one.grammar->masks().Clear();
    state.ResumeTiming();
    tokens += ReadText(one, text++ % one.texts.size(),
                       [&](LaneConstraint& lane) { lane.Gather(logits, out); });
  }
  SetPerToken(state, tokens);
}

void Warm(benchmark::State& state, Workload::Case& one, size_t logit_count) {
  const std::vector<float> logits(logit_count);
  std::vector<TokenLogit> out;
  out.reserve(logit_count);
  const auto gather = [&](LaneConstraint& lane) {
    out.clear();
    lane.Gather(logits, out);
  };
  for (size_t i = 0; i < one.texts.size(); ++i) ReadText(one, i, gather);
  size_t tokens = 0;
  size_t text = 0;
  for (auto _ : state) tokens += ReadText(one, text++ % one.texts.size(), gather);
  SetPerToken(state, tokens);
  state.counters["masks"] = static_cast<double>(one.grammar->masks().count());
  state.counters["mask_kB"] = static_cast<double>(one.grammar->masks().bytes()) / 1000;
}

void Tick(benchmark::State& state, Workload::Case& one, size_t logit_count) {
  const std::vector<float> logits(logit_count);
  std::vector<TokenLogit> out;
  out.reserve(logit_count);
  std::vector<LaneConstraint> lanes;
  std::vector<size_t> next(kLanes);
  for (size_t i = 0; i < kLanes; ++i) lanes.emplace_back(one.grammar);
  for (auto _ : state) {
    for (size_t i = 0; i < kLanes; ++i) {
      const std::vector<Token>& text = one.texts[i % one.texts.size()];
      out.clear();
      lanes[i].Gather(logits, out);
      if (!lanes[i].Accept(text[next[i]])) exit(1);
      if (++next[i] < text.size()) continue;
      next[i] = 0;
      lanes[i] = LaneConstraint(one.grammar);
    }
  }
}

void WalkAll(benchmark::State& state, Workload::Case& one) {
  LaneConstraint lane(one.grammar);
  const std::vector<Token>& text = one.texts[0];
  for (size_t i = 0; i < text.size() / 2; ++i) lane.Accept(text[i]);
  for (auto _ : state) benchmark::DoNotOptimize(lane.Allowed(LaneConstraint::Method::kWalk));
}

Schemas ReadSchemas() {
  Schemas schemas;
  std::ifstream file(kCorpus);
  for (std::string line; std::getline(file, line);) {
    const auto entry = nlohmann::ordered_json::parse(line);
    schemas[entry["name"]] = entry["schema"].dump();
  }
  std::string tools = R"({"anyOf":[)";
  for (int i = 0; i < 150; ++i) {
    absl::StrAppend(&tools, i == 0 ? "" : ",",
                    R"({"type":"object","properties":{"name":{"const":"tool_)", i,
                    R"("},"arguments":{"type":"object","properties":{"path":{"type":"string",
                    "description":"where it is, from the root of all that there is to find"},
                    "depth":{"type":"integer","minimum":0,"maximum":)",
                    i + 9, R"(}},
                    "required":["path"]}},"required":["name","arguments"]})");
  }
  schemas["tools-150"] = tools + "]}";
  schemas["string-4000"] = R"({"type":"string","maxLength":4000})";
  return schemas;
}

void Register(const Schemas& schemas, const std::vector<std::shared_ptr<Workload>>& workloads) {
  std::vector<std::string> names(std::begin(kChosen), std::end(kChosen));
  names.insert(names.end(), {"tools-150", "string-4000"});
  const auto add = [](const std::string& name, auto run) {
    benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMicrosecond);
  };
  for (const std::string& name : names) {
    const std::string schema = schemas.at(name);
    add(absl::StrCat("compile/", name),
        [schema](benchmark::State& state) { Compile(state, schema); });
  }
  for (const std::shared_ptr<Workload>& workload : workloads) {
    const size_t size = workload->size();
    add(absl::StrCat("vocabulary/", size), [size](benchmark::State& state) {
      const TokenTexts tokens = testing::SyntheticTokens(size);
      for (auto _ : state) benchmark::DoNotOptimize(Vocabulary(tokens).node_count());
    });
    for (const std::string& name : names) {
      const std::string schema = schemas.at(name);
      const std::string end = absl::StrCat("/", name, "/", size);
      const auto one = [workload, name, schema]() -> Workload::Case& {
        return workload->Of(name, schema);
      };
      add("first" + end, [one](benchmark::State& state) { First(state, one()); });
      add("warm" + end, [one](benchmark::State& state) { Warm(state, one(), 0); });
      add("gather" + end, [one, size](benchmark::State& state) { Warm(state, one(), size); });
      add("tick" + end, [one, size](benchmark::State& state) { Tick(state, one(), size); });
      add("walk" + end, [one](benchmark::State& state) { WalkAll(state, one()); });
    }
  }
}

}  // namespace
}  // namespace superfluid

int main(int argc, char** argv) {
  const superfluid::Schemas schemas = superfluid::ReadSchemas();
  if (schemas.size() < 10) {
    std::cerr << "grammar_benchmark: no " << superfluid::kCorpus << " here\n";
    return 2;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  superfluid::Register(schemas, {std::make_shared<superfluid::Workload>(128'000),
                                 std::make_shared<superfluid::Workload>(200'000)});
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
