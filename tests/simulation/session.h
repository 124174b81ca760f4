#ifndef SUPERFLUID_TESTS_SIMULATION_SESSION_H_
#define SUPERFLUID_TESTS_SIMULATION_SESSION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/dice.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/peer.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/world.h"

namespace superfluid::simulation {

// How a plan ended.
struct Outcome {
  std::vector<std::string> violations;    // sentences that did not hold; empty: all well
  std::map<std::string, int64_t> counts;  // what happened how often
  std::vector<std::string> trace;         // a line an event, if it was asked for
  uint64_t fingerprint = 0;               // of all frames and times: equal plans have equal ones
};

struct SessionOptions {
  bool trace = false;
};

// Plays a plan to its end: carries out its actions, lets everything finish, ends all links, and
// looks at what is left.
Outcome Play(const Plan& plan, const SessionOptions& options = {});

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_SESSION_H_
