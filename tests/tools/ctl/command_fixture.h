#ifndef SUPERFLUID_TESTS_TOOLS_CTL_COMMAND_FIXTURE_H_
#define SUPERFLUID_TESTS_TOOLS_CTL_COMMAND_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/tools/ctl/string_output.h"
#include "tools/ctl/command_line.h"
#include "tools/ctl/formats/json_text.h"

namespace superfluid::ctl {

// Runs commands in this process, with their output in strings.
class CommandTest : public testing::Test {
 protected:
  // No worker of the machine's has a part in this.
  void SetUp() override { unsetenv("SUPERFLUID_SOCKET"); }

  ExitCode Run(const std::vector<std::string>& arguments) {
    out_ = StringOutput();
    err_ = StringOutput();
    out_.fail_with = out_status_;
    return RunCommandLine(arguments, {.out = &out_, .err = &err_, .in_fd = -1});
  }

  // `worker`: anything with a path().
  template <typename Worker>
  ExitCode RunWith(const Worker& worker, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--connect", worker.path()});
    return Run(arguments);
  }

  std::vector<std::string> OutputLines() const {
    return absl::StrSplit(out_.text, '\n', absl::SkipEmpty());
  }
  Json LastLine() const { return Json::parse(OutputLines().back()); }

  StringOutput out_;
  StringOutput err_;
  absl::Status out_status_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TESTS_TOOLS_CTL_COMMAND_FIXTURE_H_
