#include "tests/conformance/report.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid::conformance {
namespace {

class ReportTest : public testing::Test {
 protected:
  const Check check_{.ids = "FRAME-2 ERR-1", .title = "a <wrong> magic", .calls = {"tick"}};

  Result Make(Verdict verdict, const std::string& text) const {
    return {.check = &check_, .verdict = verdict, .text = text, .seconds = 0.5};
  }
};

TEST_F(ReportTest, AFailureSaysWhatWasSeenAndTheSentences) {
  const std::string text = TextOf(Make(Verdict::kFail, "nothing happened"));
  EXPECT_NE(text.find("FAIL"), std::string::npos);
  EXPECT_NE(text.find("nothing happened"), std::string::npos);
  EXPECT_NE(text.find("[FRAME-2] A wrong magic is a link error."), std::string::npos) << text;
  EXPECT_NE(text.find("[ERR-1]"), std::string::npos);
}

TEST_F(ReportTest, ASkipSaysWhy) {
  const std::string text = TextOf(Make(Verdict::kSkip, "no ticks"));
  EXPECT_NE(text.find("SKIP"), std::string::npos);
  EXPECT_NE(text.find("no ticks"), std::string::npos);
  EXPECT_EQ(text.find("[FRAME-2]"), std::string::npos);
}

TEST_F(ReportTest, JUnitHasCountsPropertiesAndEscapes) {
  const std::string xml =
      JUnitOf({Make(Verdict::kPass, ""), Make(Verdict::kFail, "a & \"b\" \x01\xff"),
               Make(Verdict::kSkip, "no ticks")},
              "sim", {"embed", "tick"});
  EXPECT_NE(xml.find("tests=\"3\" failures=\"1\" skipped=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("name=\"engine.calls\" value=\"embed tick\""), std::string::npos);
  EXPECT_NE(xml.find("name=\"FRAME-2,ERR-1 a &lt;wrong&gt; magic\""), std::string::npos);
  EXPECT_NE(xml.find("message=\"a &amp; &quot;b&quot; ?\xEF\xBF\xBD\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("<skipped message=\"no ticks\"/>"), std::string::npos);
}

TEST_F(ReportTest, TheSummaryCounts) {
  EXPECT_EQ(SummaryOf({Make(Verdict::kPass, ""), Make(Verdict::kPass, "")}),
            "2 checks: 2 passed, 0 failed, 0 skipped\n");
}

}  // namespace
}  // namespace superfluid::conformance
