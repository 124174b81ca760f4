// The words of a command line of the worker, one a line.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/fuzz/target.h"
#include "tools/worker/worker_options.h"

namespace superfluid::fuzz {
namespace {

// Another way out than options says why, and leaves with 0 or 2.
void CheckExit(const ParseExit& exit) {
  if (exit.code == 0) return Require(!exit.out.empty());
  Require(exit.code == 2 && !exit.err.empty());
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  const std::string text(bytes.substr(0, bytes.find('\0')));
  const std::vector<std::string> words = absl::StrSplit(text, '\n', absl::SkipEmpty());
  std::vector<const char*> arguments = {"superfluid_worker"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const auto parsed =
      ParseWorkerOptions(static_cast<int>(arguments.size()), arguments.data(), /*activated=*/{});
  if (const auto* exit = std::get_if<ParseExit>(&parsed)) return CheckExit(*exit);
  const auto& options = std::get<WorkerOptions>(parsed);
  Require(!options.listen_path.empty() || (options.frames_fd >= 0 && options.fds_fd >= -1));
  Require(options.media_root.starts_with('/') && options.model_root.starts_with('/'));
  Require(options.engine_kill > absl::ZeroDuration() && options.max_transcriptions > 0);
}

}  // namespace superfluid::fuzz
