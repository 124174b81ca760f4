#include "tests/conformance/check.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace superfluid::conformance {

std::vector<std::string> IdsOf(const Check& check) {
  return absl::StrSplit(check.ids, ' ', absl::SkipEmpty());
}

std::string NameOf(const Check& check) {
  return absl::StrCat(absl::StrJoin(IdsOf(check), ","), " ", check.title);
}

void Fail(std::string seen) { throw Failed(std::move(seen)); }
void Skip(std::string why) { throw Skipped(std::move(why)); }

}  // namespace superfluid::conformance
