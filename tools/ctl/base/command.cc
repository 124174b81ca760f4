#include "tools/ctl/base/command.h"

#include "absl/status/status.h"

namespace superfluid::ctl {

ExitCode CommandContext::Fail(const Failure& failure) const {
  console.err->Write(FailureLine(failure)).IgnoreError();
  return failure.code;
}

ExitCode CommandContext::Print(const std::string& text) const {
  const absl::Status status = console.out->Write(text);
  if (status.ok()) return ExitCode::kOk;
  if (absl::IsAborted(status)) return ExitCode::kOutputClosed;
  return Fail(LocalFailure(status));
}

}  // namespace superfluid::ctl
