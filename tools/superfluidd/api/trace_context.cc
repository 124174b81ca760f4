#include "tools/superfluidd/api/trace_context.h"

#include <algorithm>
#include <random>
#include <string>

#include "absl/strings/escaping.h"

namespace superfluid::daemon {
namespace {

// "00-" trace id "-" parent's id "-" flags
constexpr size_t kTraceAt = 3;
constexpr size_t kTraceDigits = 32;
constexpr size_t kParentAt = kTraceAt + kTraceDigits + 1;
constexpr size_t kSpanDigits = 16;
constexpr size_t kFlagsAt = kParentAt + kSpanDigits + 1;
constexpr size_t kLength = kFlagsAt + 2;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZero(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '0'; });
}

// A later version may add fields at the end.
bool IsTraceparent(std::string_view text) {
  if (text.size() < kLength) return false;
  const std::string_view version = text.substr(0, 2);
  const bool ends = text.size() == kLength || (version != "00" && text[kLength] == '-');
  return ends && IsHex(version) && version != "ff" && text[kTraceAt - 1] == '-' &&
         text[kParentAt - 1] == '-' && text[kFlagsAt - 1] == '-' &&
         IsHex(text.substr(kTraceAt, kTraceDigits)) && IsHex(text.substr(kParentAt, kSpanDigits)) &&
         IsHex(text.substr(kFlagsAt, 2)) && !IsZero(text.substr(kTraceAt, kTraceDigits)) &&
         !IsZero(text.substr(kParentAt, kSpanDigits));
}

}  // namespace

std::string RandomHex(size_t bytes) {
  static thread_local std::mt19937_64 random{std::random_device()()};
  std::string raw(bytes, '\0');
  for (char& byte : raw) byte = static_cast<char>(random());
  return absl::BytesToHexString(raw);
}

TraceContext TraceContextOf(std::string_view traceparent) {
  TraceContext context;
  context.span_id = RandomHex(kSpanDigits / 2);
  if (!IsTraceparent(traceparent)) {
    context.trace_id = RandomHex(kTraceDigits / 2);
    return context;
  }
  context.trace_id = std::string(traceparent.substr(kTraceAt, kTraceDigits));
  context.parent_id = std::string(traceparent.substr(kParentAt, kSpanDigits));
  return context;
}

}  // namespace superfluid::daemon
