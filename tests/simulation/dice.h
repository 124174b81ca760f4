#ifndef SUPERFLUID_TESTS_SIMULATION_DICE_H_
#define SUPERFLUID_TESTS_SIMULATION_DICE_H_

#include <cstddef>
#include <cstdint>
#include <random>

namespace superfluid::simulation {

// Draws reproducible choices: the same seed gives the same choices on every machine (the
// distributions of <random> would not).
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(static_cast<uint_fast32_t>(Spread(seed))) {}

  // Returns a number in [0, below); 0 if `below` is 0.
  uint32_t Below(uint32_t below) {
    return below == 0 ? 0 : static_cast<uint32_t>(random_() >> 4) % below;
  }
  // Returns a number in [least, most].
  uint32_t Between(uint32_t least, uint32_t most) { return least + Below(most - least + 1); }
  // Returns true once in `n` draws.
  bool OneIn(uint32_t n) { return Below(n) == 0; }

  // Returns an element of `choices`. REQUIRES: not empty.
  template <class Container>
  const auto& Pick(const Container& choices) {
    return *std::next(choices.begin(), Below(static_cast<uint32_t>(choices.size())));
  }

 private:
  // Mixes the seed (SplitMix64's finalizer), so that neighbours share nothing.
  static uint64_t Spread(uint64_t seed) {
    seed += 0x9e3779b97f4a7c15u;
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
    return (seed ^ (seed >> 31)) & 0x7fffffffu;
  }

  std::minstd_rand random_;
};

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_DICE_H_
