// Draws texts of each schema of a corpus, and changes some of them: what another validator is asked
// about (corpus_test.sh).
//
// usage: corpus_texts SCHEMAS COUNT SEED
//
// Prints for each schema one line of JSON: {"name", "schema", "drawn": [TEXT ...], "taken": [TEXT
// ...], "refused": [TEXT ...]}; taken and refused are changed texts. Exits with 1 if a schema is
// refused, or gives too few texts.

#include <cstdint>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "engine/constrain/json_document.h"
#include "engine/constrain/json_grammar.h"
#include "engine/constrain/lane_constraint.h"
#include "tests/engine/constrain/synthetic_tokens.h"
#include "tests/engine/constrain/text_drawer.h"

namespace superfluid {
namespace {

using Json = nlohmann::json;

constexpr size_t kVocabulary = 3000;
constexpr size_t kTriesForAText = 4;
constexpr size_t kChangedOf = 15;  // so many of the texts are changed
constexpr int kChanges = 12;       // of each

std::string Changed(std::string text, std::mt19937_64& random) {
  constexpr absl::string_view kBytes = "0123456789-.eE\"\\{}[],: aAztn";
  for (uint64_t changes = 1 + random() % 2; changes > 0; --changes) {
    const size_t at = random() % (text.size() + 1);
    const char byte = kBytes[random() % kBytes.size()];
    const uint64_t kind = at == text.size() ? 0 : random() % 3;
    if (kind == 0) text.insert(at, 1, byte);
    if (kind == 1) text[at] = byte;
    if (kind == 2) text.erase(at, 1);
  }
  return text;
}

bool IsUtf8(const std::string& text) {
  return nlohmann::json::accept("\"" + QuotedJson(text).substr(1));
}

int Run(const std::string& file, size_t count, uint64_t seed) {
  Vocabulary vocabulary(testing::SyntheticTokens(kVocabulary));
  MaskBudget budget;
  std::mt19937_64 random(seed);
  testing::TextDrawer drawer(vocabulary, random);
  std::ifstream lines(file);
  int status = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json entry = Json::parse(line);
    // Not as `entry` has it: the order of members counts.
    const size_t from = line.find("\"schema\":") + 9;
    const std::string schema = line.substr(from, line.size() - from - 1);
    const auto compiled = CompileJsonSchema(schema, {});
    if (!compiled.ok()) {
      std::cerr << entry["name"] << ": " << compiled.status() << "\n";
      status = 1;
      continue;
    }
    const auto grammar = std::make_shared<TokenGrammar>(*compiled, vocabulary, budget, "");
    std::vector<std::string> drawn;
    for (size_t i = 0; i < count * kTriesForAText && drawn.size() < count; ++i) {
      std::string text = drawer.DrawText(grammar);
      if (!text.empty()) drawn.push_back(std::move(text));
    }
    if (drawn.size() < count) {
      std::cerr << entry["name"] << ": only " << drawn.size() << " texts\n";
      status = 1;
    }
    Json out = {{"name", entry["name"]},
                {"schema", entry["schema"]},
                {"drawn", drawn},
                {"taken", Json::array()},
                {"refused", Json::array()}};
    for (size_t i = 0; i < drawn.size() && i < kChangedOf; ++i) {
      for (int j = 0; j < kChanges; ++j) {
        const std::string text = Changed(drawn[i], random);
        if (!IsUtf8(text)) continue;
        Stacks stacks(*compiled);
        const bool taken = stacks.Read(text) && stacks.CanEnd();
        out[taken ? "taken" : "refused"].push_back(text);
      }
    }
    std::cout << out.dump() << "\n";
  }
  return status;
}

}  // namespace
}  // namespace superfluid

int main(int argc, char** argv) {
  size_t count = 0;
  uint64_t seed = 0;
  if (argc != 4 || !absl::SimpleAtoi(argv[2], &count) || !absl::SimpleAtoi(argv[3], &seed)) {
    std::cerr << "usage: corpus_texts SCHEMAS COUNT SEED\n";
    return 2;
  }
  return superfluid::Run(argv[1], count, seed);
}
