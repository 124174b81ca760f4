#ifndef SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_REPORT_H_
#define SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "tools/ctl/base/command.h"
#include "tools/ctl/base/exit_code.h"
#include "tools/ctl/base/stop_watcher.h"
#include "tools/ctl/generation/generation.h"

namespace superfluid::ctl {

// How a generation ended, for the user.
struct GenerationEnd {
  ExitCode code = ExitCode::kOk;
  std::string text;  // for standard error; may be empty, else whole lines
};

// `what`: the command, for failures. `local_failure`: of StopReason::kLocalFailure. `summary`:
// whether figures are wanted. Pure.
GenerationEnd EndOfGeneration(const std::string& what, StopReason reason,
                              const absl::Status& local_failure, const GenerationOutcome& outcome,
                              bool summary);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_REPORT_H_
