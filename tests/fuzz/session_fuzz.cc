// A whole session of peers with a worker and the engine `sim`, in virtual time: four bytes an
// action.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "spdlog/spdlog.h"
#include "tests/fuzz/target.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/session.h"

namespace superfluid::fuzz {
namespace {

using simulation::Action;
using simulation::ActionKind;
using simulation::Plan;

constexpr size_t kBytesOfAction = 4;
constexpr size_t kMostActions = 60;
// How many handlers run after an action: few leave it half done, many bring all to rest.
constexpr std::array<uint32_t, 8> kHandlers = {0, 1, 3, 10, 40, 200, 100'000, 100'000};

// The first byte chooses the engine among those of the first seeds.
Plan PlanOf(std::string_view bytes) {
  Plan plan = simulation::MakePlan(1 + (bytes.empty() ? 0u : static_cast<uint8_t>(bytes[0])));
  plan.actions.clear();
  plan.actions.push_back({.kind = ActionKind::kConnectDriver, .draw = 1, .handlers = 0});
  const auto at = [bytes](size_t i) {
    return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i]));
  };
  for (size_t i = 1; i + kBytesOfAction <= bytes.size() && plan.actions.size() < kMostActions;
       i += kBytesOfAction) {
    plan.actions.push_back({.kind = static_cast<ActionKind>(at(i) % simulation::kActionKinds),
                            .draw = at(i + 1) << 8 | at(i + 2),
                            .handlers = kHandlers.at(at(i + 3) % kHandlers.size())});
  }
  return plan;
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  spdlog::set_level(spdlog::level::off);
  const simulation::Outcome outcome = simulation::Play(PlanOf(bytes));
  for (const std::string& violation : outcome.violations) {
    std::fprintf(stderr, "%s\n", violation.c_str());
  }
  Require(outcome.violations.empty());
}

}  // namespace superfluid::fuzz
