#include "engine/whisper/library_log.h"

#include <cmath>
#include <mutex>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "engine/whisper/ggml_names.h"

namespace superfluid {
namespace {

constexpr size_t kMostLineBytes = 4096;

EngineLogLevel LevelOf(GgmlLogLevel level) {
  if (level == SUPERFLUID_GGML_CONSTANT(LOG_LEVEL_ERROR)) return EngineLogLevel::kError;
  if (level == SUPERFLUID_GGML_CONSTANT(LOG_LEVEL_WARN)) return EngineLogLevel::kWarning;
  return EngineLogLevel::kDebug;
}

// "whisper_model_load: invalid model data" -> "invalid model data".
std::string_view WithoutFunction(std::string_view line) {
  const size_t colon = line.find(": ");
  const bool is_name = colon != std::string_view::npos &&
                       line.substr(0, colon).find_first_of(" \t") == std::string_view::npos;
  return is_name ? line.substr(colon + 2) : line;
}

// "whisper_init_state: compute buffer (conv)   =    3.99 MB" -> 3990000; 0 for any other line.
uint64_t StateBytesIn(absl::string_view line) {
  constexpr absl::string_view unit = " MB";
  const size_t equals = line.rfind('=');
  if (!absl::StartsWith(line, "whisper_init_state: ") || !absl::EndsWith(line, unit) ||
      equals == absl::string_view::npos) {
    return 0;
  }
  line.remove_suffix(unit.size());
  double megabytes = 0;
  if (equals >= line.size() || !absl::SimpleAtod(line.substr(equals + 1), &megabytes)) return 0;
  const bool is_sane = megabytes > 0 && megabytes < 1e9;
  return is_sane ? static_cast<uint64_t>(std::llround(megabytes * 1e6)) : 0;
}

void DropReport(GgmlLogLevel /*level*/, const char* /*text*/, void* /*context*/) {}

}  // namespace

class LibraryLog::Sink {
 public:
  explicit Sink(EngineLog log) : log_(std::move(log)) {}

  static void OnReport(GgmlLogLevel level, const char* text, void* context) {
    static_cast<Sink*>(context)->Add(level, text == nullptr ? "" : text);
  }

  void EndLoading() {
    const std::lock_guard<std::mutex> lock(mutex_);
    loading_ = false;
    first_error_.clear();
  }

  std::string TakeFirstError() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(first_error_, {});
  }

  uint64_t TakeStateBytes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(state_bytes_, 0);
  }

 private:
  void Add(GgmlLogLevel level, std::string_view text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (level != SUPERFLUID_GGML_CONSTANT(LOG_LEVEL_CONT)) level_ = LevelOf(level);
    while (!text.empty()) {
      const size_t end = text.find('\n');
      line_ += text.substr(0, end);
      if (end == std::string_view::npos && line_.size() < kMostLineBytes) return;
      EndLine();
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
  }

  void EndLine() {
    const std::string ended = std::exchange(line_, {});
    if (ended.empty()) return;
    if (level_ == EngineLogLevel::kError && first_error_.empty()) {
      first_error_ = WithoutFunction(ended);
    }
    if (loading_) state_bytes_ += StateBytesIn(ended);
    if (!loading_ && level_ == EngineLogLevel::kDebug) return;  // several lines a second
    if (log_) log_(loading_ ? level_ : EngineLogLevel::kDebug, ended);
  }

  std::mutex mutex_;
  // All below: guarded by mutex_.
  const EngineLog log_;
  bool loading_ = true;
  std::string line_;  // so far; a report may come in pieces
  EngineLogLevel level_ = EngineLogLevel::kDebug;
  std::string first_error_;
  uint64_t state_bytes_ = 0;
};

LibraryLog::LibraryLog(EngineLog log) : sink_(std::make_unique<Sink>(std::move(log))) {
  whisper_log_set(&Sink::OnReport, sink_.get());
}

LibraryLog::~LibraryLog() { whisper_log_set(DropReport, nullptr); }

void LibraryLog::EndLoading() { sink_->EndLoading(); }

std::string LibraryLog::TakeFirstError() { return sink_->TakeFirstError(); }

uint64_t LibraryLog::TakeStateBytes() { return sink_->TakeStateBytes(); }

}  // namespace superfluid
