#ifndef SUPERFLUID_TESTS_SIMULATION_RUNNER_H_
#define SUPERFLUID_TESTS_SIMULATION_RUNNER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace superfluid::simulation {

struct Failure {
  uint64_t seed = 0;
  std::string text;  // the violations, a line each
};

// What many seeds came to.
struct Summary {
  uint64_t played = 0;
  std::vector<Failure> failures;          // the first few
  std::map<std::string, int64_t> counts;  // what happened how often
};

// Plays `seeds` seeds from `first` on in `jobs` processes. A process that crashes is a failure of
// the seed that it played. Stops early after a few failures.
Summary PlaySeeds(uint64_t first, uint64_t seeds, int jobs);

// The program; see main.cc.
int RunMain(int argc, char** argv);

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_RUNNER_H_
