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

// Runs checks one after the other against one worker, or against two: as given, and slow.
//
// A check that can mean nothing after a failure is not run, and skipped with the reason: all of
// them if no link can be had or its capabilities cannot be read, those that need a call once a
// check of HELLO-12 has failed. Threads: one.
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
    std::string unreadable;  // why there are no facts; empty: it was not tried, or there are
  };
  void RunIn(Known& known, const Check& check);
  const Facts& FactsOf(Known& known);
  // Why the check can mean nothing; empty: it can.
  std::string WhyMeaningless(const Known& known, const Check& check) const;

  Known plain_;
  Known slow_;
  Settings settings_;
  uint64_t seed_;
  std::string wrong_capabilities_;  // the name of the check that found them wrong
};

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_RUNNER_H_
