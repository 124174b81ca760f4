#ifndef SUPERFLUID_TESTS_SIMULATION_SHRINK_H_
#define SUPERFLUID_TESTS_SIMULATION_SHRINK_H_

#include <functional>

#include "tests/simulation/plan.h"

namespace superfluid::simulation {

// Returns a plan with as few of the actions of `plan` as it finds for which `fails` still holds, by
// taking out halves, quarters and so on down to single actions (delta debugging, Zeller and
// Hildebrandt 2002). REQUIRES: fails(plan).
Plan Shrink(Plan plan, const std::function<bool(const Plan&)>& fails);

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_SHRINK_H_
