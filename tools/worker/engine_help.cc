#include "tools/worker/engine_help.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/loader/loader.h"
#include "engine/loader/resolve.h"
#include "engine/options/option_text.h"

namespace superfluid {

absl::StatusOr<std::string> FindLibrary(const WorkerOptions& options) {
  std::vector<std::string> dirs = options.engine_dirs;
  for (std::string& dir : DefaultEngineDirs()) dirs.push_back(std::move(dir));
  return ResolveEngine(options.engine, dirs);
}

absl::StatusOr<std::string> EngineHelp(const WorkerOptions& options) {
  const absl::StatusOr<std::string> library = FindLibrary(options);
  if (!library.ok()) return library.status();
  auto text = std::make_shared<std::string>();
  EngineConfig config;
  config.options = {{kHelpOption, ""}};
  config.log = [text](EngineLogLevel level, absl::string_view line) {
    if (level == EngineLogLevel::kInfo) absl::StrAppend(text.get(), line, "\n");
  };
  const absl::Status made = LoadEngine(*library, config).status();
  if (absl::IsCancelled(made) && !text->empty()) return *text;
  return absl::FailedPreconditionError(
      absl::StrCat("the engine ", options.engine, " does not say which options it has",
                   made.ok() ? "" : absl::StrCat(": ", made.message())));
}

}  // namespace superfluid
