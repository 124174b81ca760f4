#ifndef SUPERFLUID_TESTS_CONFORMANCE_RUNNER_H_
#define SUPERFLUID_TESTS_CONFORMANCE_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/check.h"
#include "tests/conformance/context.h"
#include "tests/conformance/worker.h"

namespace superfluid::conformance {

enum class Verdict { kPass, kFail, kSkip };

struct Result {
  const Check* check = nullptr;
  Verdict verdict = Verdict::kPass;
  std::string text;  // what was seen, or why it was skipped
  double seconds = 0;
};

// Runs checks one after the other against one worker, or against two: as given, and slow. Threads:
// one.
class Runner {
 public:
  // `slow`: may be null; checks that want a slow worker are skipped then. It may be the same
  // object.
  Runner(Worker* plain, Worker* slow, Settings settings, uint64_t seed);

  Result Run(const Check& check);

  // What the engine lists; empty if no link could be had.
  std::set<std::string> Calls();

 private:
  struct Known {
    Worker* worker = nullptr;
    std::optional<Facts> facts;
  };
  void RunIn(Known& known, const Check& check);
  const Facts& FactsOf(Known& known);

  Known plain_;
  Known slow_;
  Settings settings_;
  uint64_t seed_;
};

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_RUNNER_H_
