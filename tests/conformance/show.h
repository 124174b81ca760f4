#ifndef SUPERFLUID_TESTS_CONFORMANCE_SHOW_H_
#define SUPERFLUID_TESTS_CONFORMANCE_SHOW_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "protocol/messages/messages.h"
#include "tests/conformance/check.h"

// Values as text, for what a failure says.
namespace superfluid::conformance {

std::string Show(linkw::Status status);
std::string Show(linkw::FinishReason reason);
std::string Show(linkw::OpState state);
std::string Show(linkw::EngineState state);
std::string Show(const std::vector<linkw::Token>& tokens);  // the first few
std::string Show(std::string_view text);                    // quoted
inline std::string Show(const std::string& text) { return Show(std::string_view(text)); }
inline std::string Show(const char* text) { return Show(std::string_view(text)); }
inline std::string Show(bool value) { return value ? "true" : "false"; }
template <class T>
requires(std::integral<T> || std::floating_point<T>) std::string Show(T value) {
  return absl::StrCat(value);
}
template <class T>
requires(std::is_enum_v<T>) std::string Show(T value) {
  return absl::StrCat(static_cast<uint64_t>(value));
}

// Type, correlation and what matters of the content.
std::string Show(const linkw::WorkerMessage& message);

template <class Got, class Want>
void ExpectEq(const Got& got, const Want& want, std::string_view what) {
  if (!(got == want)) {
    Fail(absl::StrCat(View(what), ": saw ", Show(got), ", expected ", Show(want)));
  }
}

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_SHOW_H_
