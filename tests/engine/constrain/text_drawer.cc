#include "tests/engine/constrain/text_drawer.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace superfluid::testing {
namespace {

constexpr size_t kShort = 120;  // tokens, after which a text is to come to its end
constexpr size_t kMost = 1500;  // tokens

bool IsCloser(absl::string_view text) {
  return text == "\"" || text == "]" || text == "}" || text == "\"}" || text == "\"]";
}

}  // namespace

Token TextDrawer::Pick(LaneConstraint& lane, Aim aim) {
  const std::vector<float> logits(vocabulary_.size());
  std::vector<TokenLogit> allowed;
  lane.Gather(logits, allowed);
  std::vector<Token> closers;
  std::vector<Token> ends;
  std::vector<Token> others;
  for (const TokenLogit& one : allowed) {
    const absl::string_view bytes = vocabulary_.Bytes(one.token);
    const bool blank = bytes.find_first_not_of(" \n\t") == absl::string_view::npos;
    if (vocabulary_.Ends(one.token)) {
      ends.push_back(one.token);
    } else if (IsCloser(bytes)) {
      closers.push_back(one.token);
    } else if (!blank || random_() % 20 == 0) {
      others.push_back(one.token);
    }
  }
  const auto any_of = [this](const std::vector<Token>& tokens) {
    return tokens[random_() % tokens.size()];
  };
  const auto wants = [&] { return aim == Aim::kEnd || random_() % 3 == 0; };
  if (!ends.empty() && wants()) return ends[0];
  const bool close = wants();
  if (!closers.empty() && (close || others.empty())) return any_of(closers);
  if (!others.empty()) return any_of(others);
  if (allowed.empty()) abort();  // a dead end: no grammar has one
  return allowed[random_() % allowed.size()].token;
}

std::vector<Token> TextDrawer::DrawTokens(const std::shared_ptr<TokenGrammar>& grammar) {
  LaneConstraint lane(grammar);
  std::vector<Token> tokens;
  while (tokens.size() < kMost) {
    tokens.push_back(Pick(lane, tokens.size() > kShort ? Aim::kEnd : Aim::kOn));
    if (!lane.Accept(tokens.back())) abort();  // what Gather gives, Accept takes
    if (vocabulary_.Ends(tokens.back())) return tokens;
  }
  return {};
}

std::string TextDrawer::DrawText(const std::shared_ptr<TokenGrammar>& grammar) {
  std::string text;
  for (const Token token : DrawTokens(grammar)) absl::StrAppend(&text, vocabulary_.Bytes(token));
  return text;
}

}  // namespace superfluid::testing
