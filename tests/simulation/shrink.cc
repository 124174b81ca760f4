#include "tests/simulation/shrink.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace superfluid::simulation {
namespace {

Plan Without(const Plan& plan, size_t begin, size_t end) {
  Plan shorter = plan;
  shorter.actions.erase(shorter.actions.begin() + static_cast<std::ptrdiff_t>(begin),
                        shorter.actions.begin() + static_cast<std::ptrdiff_t>(end));
  return shorter;
}

// Takes out every piece of `size` actions that is not needed.
bool TakeOutPieces(Plan& plan, size_t size, const std::function<bool(const Plan&)>& fails) {
  bool shorter = false;
  for (size_t end = plan.actions.size(); end > 0;) {
    const size_t begin = end > size ? end - size : 0;
    Plan candidate = Without(plan, begin, end);
    if (fails(candidate)) {
      plan = std::move(candidate);
      shorter = true;
    }
    end = begin;
  }
  return shorter;
}

}  // namespace

Plan Shrink(Plan plan, const std::function<bool(const Plan&)>& fails) {
  size_t size = std::max<size_t>(plan.actions.size() / 2, 1);
  while (true) {
    const bool shorter = TakeOutPieces(plan, size, fails);
    if (size == 1 && !shorter) return plan;
    if (!shorter) size = std::max<size_t>(size / 2, 1);
  }
}

}  // namespace superfluid::simulation
