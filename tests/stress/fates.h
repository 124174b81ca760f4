#ifndef SUPERFLUID_TESTS_STRESS_FATES_H_
#define SUPERFLUID_TESTS_STRESS_FATES_H_

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace superfluid::stress {

// Deals what is to become of the next request: in random order, but each as often as it is in the
// deck, so that a short run sees everything. One thread.
template <typename Fate>
class Fates {
 public:
  Fates(std::vector<Fate> deck, std::mt19937_64& random)
      : deck_(std::move(deck)), next_(deck_.size()), random_(random) {}

  Fate Next() {
    if (next_ == deck_.size()) {
      std::shuffle(deck_.begin(), deck_.end(), random_);
      next_ = 0;
    }
    return deck_[next_++];
  }

 private:
  std::vector<Fate> deck_;
  size_t next_;
  std::mt19937_64& random_;
};

}  // namespace superfluid::stress

#endif  // SUPERFLUID_TESTS_STRESS_FATES_H_
