#include "engine/abi/host_log.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "engine/abi/handle_table.h"
#include "engine/abi/text.h"

namespace superfluid {

struct HostLog::Ear {
  const EngineLog log;
  const OnLoading on_loading;
  const std::thread::id thread = std::this_thread::get_id();
  std::atomic<bool> loading{true};

  static HandleTable<const Ear>& All() {
    // Never destroyed, like the table of ports.
    // NOLINTNEXTLINE(*-avoid-non-const-global-variables)
    static auto* const kTable = new HandleTable<const Ear>();
    return *kTable;
  }
  static void LogLine(void* user, int32_t level, const char* text, size_t size) noexcept;
  static void Loading(void* user, uint32_t permille) noexcept;
};

namespace {

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

}  // namespace

void HostLog::Ear::LogLine(void* user, int32_t level, const char* text, size_t size) noexcept {
  try {
    const std::shared_ptr<const Ear> ear = All().Find(user);
    if (ear == nullptr || ear->log == nullptr || text == nullptr) return;
    ear->log(LevelFromAbi(level),
             CleanLine(absl::string_view(text, std::min(size, SFL_MAX_LOG_BYTES))));
  } catch (...) {
    // A log that fails is no reason to fail the engine, and there is nobody to tell.
    return;
  }
}

void HostLog::Ear::Loading(void* user, uint32_t permille) noexcept {
  try {
    const std::shared_ptr<const Ear> ear = All().Find(user);
    if (ear == nullptr || ear->on_loading == nullptr || !ear->loading ||
        ear->thread != std::this_thread::get_id()) {
      return;
    }
    ear->on_loading(std::min<uint32_t>(permille, 1000));
  } catch (...) {
    return;  // as for a log that fails
  }
}

HostLog::HostLog(EngineLog log, EngineLog about, OnLoading on_loading)
    : ear_(new Ear{.log = std::move(log), .on_loading = std::move(on_loading)}),
      about_(about != nullptr ? std::move(about) : ear_->log),
      host_{sizeof(sfl_host), SFL_ABI_VERSION, Ear::All().Add(ear_), &Ear::LogLine, &Ear::Loading} {
}

HostLog::~HostLog() { Ear::All().Remove(host_.user); }

void HostLog::EndLoading() { ear_->loading = false; }

void HostLog::Write(EngineLogLevel level, absl::string_view line) const {
  if (about_ != nullptr) about_(level, line);
}

}  // namespace superfluid
