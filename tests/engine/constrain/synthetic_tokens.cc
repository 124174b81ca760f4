#include "tests/engine/constrain/synthetic_tokens.h"

#include <random>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace superfluid::testing {
namespace {

constexpr size_t kNotText = 3;  // tokens at the end

// Adds each text once.
class TokenList {
 public:
  explicit TokenList(size_t most) : most_(most) {}

  void Add(const std::string& text) {
    if (texts_.size() < most_ && seen_.insert(text).second) texts_.push_back(text);
  }
  bool full() const { return texts_.size() >= most_; }
  std::vector<std::string> Take() { return std::move(texts_); }

 private:
  const size_t most_;
  std::set<std::string> seen_;
  std::vector<std::string> texts_;
};

void AddPieces(TokenList& tokens) {
  for (int byte = 0; byte < 256; ++byte) tokens.Add(std::string(1, static_cast<char>(byte)));
  for (const char* piece :
       {"{\"",    "\":",    "\": ",  "\":\"", "\": \"", "\",",   "\",\"", "\", \"", "\"}",
        "\"]",    "\"},",   "\"}\n", "},{",   "},{\"",  "[{\"",  "[\"",   "[]",     "{}",
        "}}",     "]}",     ":[",    ":{\"",  ",\"",    ", \"",  "true",  "false",  "null",
        ": true", ": null", ",\n",   "{\n",   "\":[",   "\\n",   "\\\"",  "\\u00",  "\\\\",
        "\\t",    "e+",     "-1",    "0.",    ".5",     "://",   "\"\"",  "\"name", "\"type",
        "name\"", "()",     "=>",    "</",    "<c",     "<call", "call>", "</call>"}) {
    tokens.Add(piece);
  }
  for (size_t run = 2; run <= 40; ++run) {
    tokens.Add(std::string(run, ' '));
    tokens.Add("\n" + std::string(run, ' '));
  }
  for (int number = 0; number < 1000; ++number) {
    tokens.Add(absl::StrCat(number));
    if (number < 100) tokens.Add(absl::StrFormat("%02d", number));
    tokens.Add(absl::StrFormat("%03d", number));
  }
}

void AddScripts(TokenList& tokens, std::mt19937_64& random, size_t count) {
  const std::string text = absl::StrCat("äöüßéèñçøåжшщюяабвгде", "んにちは日本語東京中文字漢",
                                        "한국어عربي🙂🙃🚀");
  for (size_t i = 0; i < count; ++i) {
    const size_t from = random() % text.size();
    tokens.Add(text.substr(from, 1 + random() % 6));
  }
}

std::string Word(std::mt19937_64& random) {
  static const char* const kSyllables[] = {"in", "er",   "con", "ta", "le",  "mo",
                                           "st", "re",   "pa",  "qu", "ing", "ed",
                                           "ly", "tion", "x",   "b",  "ar",  "us"};
  std::string word;
  for (size_t i = 1 + random() % 4; i > 0; --i)
    word += kSyllables[random() % std::size(kSyllables)];
  switch (random() % 8) {
    case 0:
      return absl::AsciiStrToUpper(word);
    case 1:
      word[0] = absl::ascii_toupper(static_cast<unsigned char>(word[0]));
      break;
    case 2:
      word += static_cast<char>('a' + random() % 26);
      break;
    default:
      break;
  }
  return random() % 2 == 0 ? " " + word : word;
}

}  // namespace

TokenTexts SyntheticTokens(size_t size) {
  std::mt19937_64 random(size);
  TokenList tokens(size - kNotText);
  AddPieces(tokens);
  AddScripts(tokens, random, size / 100);
  while (!tokens.full()) {
    std::string text = Word(random);
    if (random() % 16 == 0) text += "\"";
    if (random() % 32 == 0) text += "\":";
    if (random() % 64 == 0) text = "_" + text + ".";
    tokens.Add(text);
  }
  TokenTexts all;
  all.texts = tokens.Take();
  all.texts.resize(size);
  const auto first = static_cast<Token>(size - kNotText);
  all.ends = {first, first + 1};
  all.named = {{first + 2, "<call>"}};
  return all;
}

std::vector<Token> CutIntoTokens(const Vocabulary& vocabulary, absl::string_view text) {
  std::vector<Token> tokens;
  while (!text.empty()) {
    Token best = 0;
    size_t length = 0;
    uint32_t end = static_cast<uint32_t>(vocabulary.node_count());
    for (uint32_t node = 1; node < end && vocabulary.depth(node) <= text.size();) {
      const size_t depth = vocabulary.depth(node);
      if (vocabulary.byte(node) != static_cast<uint8_t>(text[depth - 1])) {
        node = vocabulary.skip(node);
        continue;
      }
      vocabulary.ForEachToken(node, [&](Token token) {
        if (length < depth) best = token;
        length = depth;
      });
      end = vocabulary.skip(node);
      ++node;
    }
    tokens.push_back(best);
    text.remove_prefix(length);
  }
  return tokens;
}

}  // namespace superfluid::testing
