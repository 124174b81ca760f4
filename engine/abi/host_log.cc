#include "engine/abi/host_log.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/abi/handle_table.h"
#include "engine/abi/text.h"

namespace superfluid {
namespace {

HandleTable<const EngineLog>& Logs() {
  // Never destroyed, like the table of ports.
  // NOLINTNEXTLINE(*-avoid-non-const-global-variables)
  static auto* const kTable = new HandleTable<const EngineLog>();
  return *kTable;
}

std::string CleanLine(absl::string_view text) {
  std::string line = ValidUtf8(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7F'; }, ' ');
  return line;
}

EngineLogLevel LevelFromAbi(int32_t level) {
  const int32_t known = std::clamp<int32_t>(level, SFL_LOG_DEBUG, SFL_LOG_ERROR);
  return static_cast<EngineLogLevel>(known);
}

void LogLine(void* user, int32_t level, const char* text, size_t size) noexcept {
  try {
    const std::shared_ptr<const EngineLog> log = Logs().Find(user);
    if (log == nullptr || *log == nullptr || text == nullptr) return;
    (*log)(LevelFromAbi(level),
           CleanLine(absl::string_view(text, std::min(size, SFL_MAX_LOG_BYTES))));
  } catch (...) {
    // A log that fails is no reason to fail the engine, and there is nobody to tell.
    return;
  }
}

}  // namespace

HostLog::HostLog(EngineLog log, EngineLog about)
    : log_(std::make_shared<const EngineLog>(std::move(log))),
      about_(about != nullptr ? std::move(about) : *log_),
      host_{sizeof(sfl_host), SFL_ABI_VERSION, Logs().Add(log_), &LogLine} {}

HostLog::~HostLog() { Logs().Remove(host_.user); }

void HostLog::Write(EngineLogLevel level, absl::string_view line) const {
  if (about_ != nullptr) about_(level, line);
}

}  // namespace superfluid
