#include "tests/conformance/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "protocol/messages/text.h"
#include "tests/conformance/contract.h"

namespace superfluid::conformance {
namespace {

const char* NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "PASS";
    case Verdict::kFail:
      return "FAIL";
    case Verdict::kSkip:
      return "SKIP";
  }
  return "?";
}

int64_t Count(const std::vector<Result>& results, Verdict verdict) {
  return std::count_if(results.begin(), results.end(),
                       [verdict](const Result& result) { return result.verdict == verdict; });
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : linkw::ToUtf8(text, text.size() * 3)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // XML has no way to write most control characters.
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return escaped;
}

std::string Property(const std::string& name, const std::string& value) {
  return absl::StrCat("<property name=\"", name, "\" value=\"", Escaped(value), "\"/>\n");
}

std::string SentencesOf(const Check& check) {
  std::string text;
  for (const std::string& id : IdsOf(check)) {
    const auto sentence = Contract().find(id);
    if (sentence == Contract().end()) continue;
    absl::StrAppend(&text, "       [", id, "] ", sentence->second, "\n");
  }
  return text;
}

}  // namespace

std::string TextOf(const Result& result) {
  std::string text = absl::StrFormat("%s  %6.2f s  %s\n", NameOf(result.verdict), result.seconds,
                                     NameOf(*result.check));
  if (result.verdict == Verdict::kPass) return text;
  absl::StrAppend(&text, "       ",
                  result.verdict == Verdict::kFail ? "saw: " : "why: ", result.text, "\n");
  if (result.verdict == Verdict::kFail) absl::StrAppend(&text, SentencesOf(*result.check));
  return text;
}

std::string SummaryOf(const std::vector<Result>& results) {
  return absl::StrCat(results.size(), " checks: ", Count(results, Verdict::kPass), " passed, ",
                      Count(results, Verdict::kFail), " failed, ", Count(results, Verdict::kSkip),
                      " skipped\n");
}

std::string JUnitOf(const std::vector<Result>& results, const std::string& suite,
                    const std::set<std::string>& calls) {
  double seconds = 0;
  for (const Result& result : results) seconds += result.seconds;
  std::string xml = absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" skipped=\"%d\" "
      "time=\"%.3f\">\n",
      Escaped(suite), results.size(), Count(results, Verdict::kFail),
      Count(results, Verdict::kSkip), seconds);
  absl::StrAppend(&xml, "<properties>\n", Property("engine.calls", absl::StrJoin(calls, " ")),
                  "</properties>\n");
  for (const Result& result : results) {
    const Check& check = *result.check;
    const std::string family = check.ids.substr(0, check.ids.find('-'));
    absl::StrAppendFormat(&xml, "  <testcase classname=\"%s\" name=\"%s\" time=\"%.3f\">\n", family,
                          Escaped(NameOf(check)), result.seconds);
    absl::StrAppend(&xml, "    <properties>\n", Property("ids", check.ids),
                    Property("calls", absl::StrJoin(check.calls, " ")), "    </properties>\n");
    if (result.verdict == Verdict::kFail) {
      absl::StrAppend(&xml, "    <failure message=\"", Escaped(result.text), "\">",
                      Escaped(SentencesOf(check)), "</failure>\n");
    } else if (result.verdict == Verdict::kSkip) {
      absl::StrAppend(&xml, "    <skipped message=\"", Escaped(result.text), "\"/>\n");
    }
    absl::StrAppend(&xml, "  </testcase>\n");
  }
  return xml + "</testsuite>\n</testsuites>\n";
}

}  // namespace superfluid::conformance
