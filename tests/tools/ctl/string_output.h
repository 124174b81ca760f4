#ifndef SUPERFLUID_TESTS_TOOLS_CTL_STRING_OUTPUT_H_
#define SUPERFLUID_TESTS_TOOLS_CTL_STRING_OUTPUT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/ctl/base/output.h"

namespace superfluid::ctl {

// Keeps what is written; fails once it is told to.
class StringOutput : public Output {
 public:
  absl::Status Write(std::string_view more) override {
    if (!fail_with.ok()) return fail_with;
    text.append(more);
    return absl::OkStatus();
  }

  std::string text;
  absl::Status fail_with;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TESTS_TOOLS_CTL_STRING_OUTPUT_H_
