// Every sentence of the contract has a check, or a reason why it cannot have one; and nothing else.

#include "tests/conformance/contract.h"

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/check.h"

namespace superfluid::conformance {
namespace {

std::set<std::string> Covered() {
  std::set<std::string> covered;
  for (const Check& check : AllChecks()) {
    for (const std::string& id : IdsOf(check)) covered.insert(id);
  }
  return covered;
}

TEST(ContractTest, EverySentenceIsCoveredOrCannotBeSeen) {
  ASSERT_GT(Contract().size(), 200u);
  const std::set<std::string> covered = Covered();
  for (const auto& [id, sentence] : Contract()) {
    EXPECT_NE(covered.contains(id), NotVisible().contains(id)) << id << ": " << sentence;
  }
}

TEST(ContractTest, ChecksAndReasonsNameSentencesThatExist) {
  for (const std::string& id : Covered()) EXPECT_TRUE(Contract().contains(id)) << id;
  for (const auto& [id, reason] : NotVisible()) {
    EXPECT_TRUE(Contract().contains(id)) << id;
    EXPECT_GT(reason.size(), 10u) << id;
  }
}

TEST(ContractTest, ChecksHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Check& check : AllChecks()) {
    EXPECT_FALSE(IdsOf(check).empty()) << check.title;
    EXPECT_FALSE(check.title.empty());
    EXPECT_TRUE(check.run);
    EXPECT_TRUE(names.insert(NameOf(check)).second) << NameOf(check);
  }
}

TEST(ContractTest, ASentenceGoesOnUntilItsItemEnds) {
  const Sentences sentences = ParseContract(
      "# Title\n"
      "- [A-1] One line.\n"
      "- [A-2] Two\n"
      "  lines.\n"
      "\n"
      "  no part of it\n"
      "- no id\n"
      "- [B-10] Last. [not an id]\n"
      "| a table |\n");
  EXPECT_EQ(
      sentences,
      (Sentences{{"A-1", "One line."}, {"A-2", "Two lines."}, {"B-10", "Last. [not an id]"}}));
}

TEST(ContractTest, ReasonsAreLinesWithAnId) {
  EXPECT_EQ(ParseNotVisible("# a comment\nA-1  because of this\n\nB-2 and that\n"),
            (Sentences{{"A-1", "because of this"}, {"B-2", "and that"}}));
}

}  // namespace
}  // namespace superfluid::conformance
