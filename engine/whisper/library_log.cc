#include "engine/whisper/library_log.h"

#include <mutex>
#include <string_view>
#include <utility>

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
};

LibraryLog::LibraryLog(EngineLog log) : sink_(std::make_unique<Sink>(std::move(log))) {
  whisper_log_set(&Sink::OnReport, sink_.get());
}

LibraryLog::~LibraryLog() { whisper_log_set(DropReport, nullptr); }

void LibraryLog::EndLoading() { sink_->EndLoading(); }

std::string LibraryLog::TakeFirstError() { return sink_->TakeFirstError(); }

}  // namespace superfluid
