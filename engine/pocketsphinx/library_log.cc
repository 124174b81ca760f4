#include "engine/pocketsphinx/library_log.h"

#include <sphinxbase/err.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <string_view>

namespace superfluid {
namespace {

// Where this thread's errors go, if anywhere: the library's callback has no better way to know.
std::string*& Captured() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  thread_local std::string* captured = nullptr;
  return captured;
}

// "ERROR: "acmod.c", line 83: Folder ... does not contain ...\n" -> "Folder ... does not contain
// ..."
std::string WithoutPosition(std::string_view message) {
  const size_t line = message.find(", line ");
  const size_t colon = line == std::string_view::npos ? line : message.find(": ", line);
  if (colon != std::string_view::npos) message.remove_prefix(colon + 2);
  while (message.ends_with('\n')) message.remove_suffix(1);
  return std::string(message);
}

void OnMessage(void* /*user*/, err_lvl_t level, const char* format, ...) {
  std::string* const captured = Captured();
  if (level < ERR_ERROR || captured == nullptr || !captured->empty()) return;
  std::array<char, 512> text = {};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  *captured = WithoutPosition(text.data());
}

}  // namespace

void SilencePocketsphinx() {
  static std::once_flag once;
  std::call_once(once, [] {
    err_set_logfp(nullptr);  // some of its dumps go there without asking the callback
    err_set_callback(OnMessage, nullptr);
  });
}

CapturePocketsphinxErrors::CapturePocketsphinxErrors() { Captured() = &first_; }

CapturePocketsphinxErrors::~CapturePocketsphinxErrors() { Captured() = nullptr; }

}  // namespace superfluid
