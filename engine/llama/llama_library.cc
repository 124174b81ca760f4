#include "engine/llama/llama_library.h"

#include <dlfcn.h>
#include <ggml-backend.h>
#include <llama.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace superfluid {

struct LlamaLibrary::Sink {
  EngineLog log;
  std::string error;
};

namespace {

// Shared by all that use the library in this process.
struct Process {
  std::mutex mutex;
  std::vector<std::shared_ptr<LlamaLibrary::Sink>> sinks;  // the newest last
  std::string line;                                        // that is not ended yet
  ggml_log_level level = GGML_LOG_LEVEL_INFO;              // of the line
  std::set<std::string> loaded;                            // folders of backends
};

Process& TheProcess() {
  // Never destroyed: the library may log at exit.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto* const kProcess = new Process;
  return *kProcess;
}

EngineLogLevel LevelOf(ggml_log_level level) {
  if (level == GGML_LOG_LEVEL_ERROR) return EngineLogLevel::kError;
  if (level == GGML_LOG_LEVEL_WARN) return EngineLogLevel::kWarning;
  // What the library calls information is of interest to its developers.
  return EngineLogLevel::kDebug;
}

// What the library says of a pass that our abort hook ended, which is no fault, and of an option
// that we set on purpose.
bool IsExpected(absl::string_view line) {
  constexpr std::array<absl::string_view, 4> expected = {
      "failed to compute graph, compute status: 1", "failed to decode, ret = 2",
      "removing memory module entries for seq_id", "model default pooling_type is"};
  return std::ranges::any_of(
      expected, [line](absl::string_view text) { return absl::StrContains(line, text); });
}

// Sends the line to the newest user. The mutex is held.
void EndLine(Process& process) {
  const std::string line = std::exchange(process.line, {});
  const absl::string_view text = absl::StripAsciiWhitespace(line);
  if (text.empty() || process.sinks.empty()) return;
  LlamaLibrary::Sink& sink = *process.sinks.back();
  if (IsExpected(text)) process.level = GGML_LOG_LEVEL_INFO;
  if (process.level == GGML_LOG_LEVEL_ERROR && sink.error.empty()) sink.error = std::string(text);
  if (sink.log != nullptr) sink.log(LevelOf(process.level), text);
}

// Lines may come in several pieces, the later ones as "continued". No exception may get out.
void OnLog(ggml_log_level level, const char* text, void* /*user*/) {
  try {
    Process& process = TheProcess();
    const std::lock_guard<std::mutex> lock(process.mutex);
    if (level != GGML_LOG_LEVEL_CONT) {
      EndLine(process);
      process.level = level;
    }
    process.line += text;
    if (process.line.ends_with('\n')) EndLine(process);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no log is no reason to end
  }
}

// Where the library itself lies.
std::string LibraryFolder() {
  Dl_info info{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  if (dladdr(reinterpret_cast<const void*>(&llama_version), &info) == 0) return "";
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

}  // namespace

LlamaLibrary::LlamaLibrary(EngineLog log) : sink_(std::make_shared<Sink>()) {
  // Where an assertion of the library fails it would start a debugger on this process, and wait for
  // it. Nobody else reads the environment while an engine is made.
  setenv("GGML_NO_BACKTRACE", "1", /*overwrite=*/0);  // NOLINT(concurrency-mt-unsafe)
  sink_->log = std::move(log);
  Process& process = TheProcess();
  const std::lock_guard<std::mutex> lock(process.mutex);
  process.sinks.push_back(sink_);
  llama_log_set(&OnLog, nullptr);
}

LlamaLibrary::~LlamaLibrary() {
  Process& process = TheProcess();
  const std::lock_guard<std::mutex> lock(process.mutex);
  std::erase(process.sinks, sink_);
}

void LlamaLibrary::LoadBackends(const std::string& folder) {
  const std::string from = folder.empty() ? LibraryFolder() : folder;
  {
    Process& process = TheProcess();
    const std::lock_guard<std::mutex> lock(process.mutex);
    if (!process.loaded.insert(from).second) return;
  }
  ggml_backend_load_all_from_path(from.c_str());
  // A system installation may have its backends linked in, or elsewhere.
  if (ggml_backend_reg_count() == 0) ggml_backend_load_all();
}

std::string LlamaLibrary::Version() {
  std::string version = llama_version();
  for (size_t i = 0; i < ggml_backend_reg_count(); ++i) {
    absl::StrAppend(&version, i == 0 ? ", " : "+", ggml_backend_reg_name(ggml_backend_reg_get(i)));
  }
  return version;
}

std::string LlamaLibrary::TakeError() {
  Process& process = TheProcess();
  const std::lock_guard<std::mutex> lock(process.mutex);
  return std::exchange(sink_->error, {});
}

}  // namespace superfluid
