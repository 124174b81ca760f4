#ifndef SUPERFLUID_TESTS_CONFORMANCE_CHECK_H_
#define SUPERFLUID_TESTS_CONFORMANCE_CHECK_H_

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace superfluid::conformance {

class Context;

// Which worker a check wants: as the command line says, or one whose ticks and ops take time.
enum class Pace { kAny, kSlow };

// One question put to a worker. It passes if `run` returns; it is over when it throws Failed or
// Skipped.
struct Check {
  std::string ids;    // of CONTRACT.md, separated by spaces: "FRAME-2 FRAME-16"
  std::string title;  // "a wrong magic"
  std::function<void(Context&)> run;
  std::vector<std::string> calls;  // names in the capabilities' "calls"; without them: SKIP
  Pace pace = Pace::kAny;
  int limit_s = 20;  // every wait of the check ends by then, with a failure
};

// "FRAME-2,FRAME-16 a wrong magic"
std::string NameOf(const Check& check);

std::vector<std::string> IdsOf(const Check& check);

// What was seen is not what the contract says.
class Failed : public std::exception {
 public:
  explicit Failed(std::string seen) : seen_(std::move(seen)) {}
  const char* what() const noexcept override { return seen_.c_str(); }

 private:
  std::string seen_;
};

// The question does not apply to this worker.
class Skipped : public std::exception {
 public:
  explicit Skipped(std::string why) : why_(std::move(why)) {}
  const char* what() const noexcept override { return why_.c_str(); }

 private:
  std::string why_;
};

[[noreturn]] void Fail(std::string seen);
[[noreturn]] void Skip(std::string why);

// `seen` says what was seen if `ok` is false.
inline void Expect(bool ok, std::string_view seen) {
  if (!ok) Fail(std::string(seen));
}

// The distribution builds abseil with a string_view of its own.
inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// All checks, family by family.
std::vector<Check> AllChecks();

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_CHECK_H_
