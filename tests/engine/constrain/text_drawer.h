#ifndef SUPERFLUID_TESTS_ENGINE_CONSTRAIN_TEXT_DRAWER_H_
#define SUPERFLUID_TESTS_ENGINE_CONSTRAIN_TEXT_DRAWER_H_

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/constrain/lane_constraint.h"
#include "engine/constrain/vocabulary.h"

namespace superfluid::testing {

// Draws texts of grammars, token by token, so that they come to an end: closing tokens are as
// likely as all others together, and come first once a text is long. Threads: one. Lifetime: the
// arguments outlive it.
class TextDrawer {
 public:
  TextDrawer(Vocabulary& vocabulary, std::mt19937_64& random)
      : vocabulary_(vocabulary), random_(random) {}

  // Returns the tokens of a whole text, the one that ends it last; none if it became too long.
  std::vector<Token> DrawTokens(const std::shared_ptr<TokenGrammar>& grammar);
  // Returns a whole text; "" if it became too long.
  std::string DrawText(const std::shared_ptr<TokenGrammar>& grammar);

 private:
  enum class Aim : uint8_t { kOn, kEnd };

  Token Pick(LaneConstraint& lane, Aim aim);

  Vocabulary& vocabulary_;
  std::mt19937_64& random_;
};

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_CONSTRAIN_TEXT_DRAWER_H_
