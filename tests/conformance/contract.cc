#include "tests/conformance/contract.h"

#include <sstream>

#include "tests/conformance/contract_text.h"

namespace superfluid::conformance {
namespace {

std::string Trimmed(const std::string& line) {
  const size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_last_not_of(' ') - first + 1);
}

}  // namespace

Sentences ParseContract(std::string_view document) {
  Sentences sentences;
  std::string* current = nullptr;
  std::istringstream lines{std::string(document)};
  for (std::string line; std::getline(lines, line);) {
    const size_t close = line.find(']');
    if (line.compare(0, 3, "- [") == 0 && close != std::string::npos) {
      current = &sentences[line.substr(3, close - 3)];
      *current += Trimmed(line.substr(close + 1));
    } else if (current != nullptr && line.compare(0, 2, "  ") == 0) {
      *current += " " + Trimmed(line);
    } else {
      current = nullptr;
    }
  }
  return sentences;
}

Sentences ParseNotVisible(std::string_view text) {
  Sentences reasons;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (line.empty() || line[0] == '#' || space == std::string::npos) continue;
    reasons[line.substr(0, space)] = Trimmed(line.substr(space));
  }
  return reasons;
}

const Sentences& Contract() {
  static const auto* const kSentences = new Sentences(ParseContract(kContractText));
  return *kSentences;
}

const Sentences& NotVisible() {
  static const auto* const kReasons = new Sentences(ParseNotVisible(kNotVisibleText));
  return *kReasons;
}

}  // namespace superfluid::conformance
