#include "actors/engine/tick_space.h"

namespace superfluid {

bool TwiceFinder::AnyTwiceInTable(absl::Span<const uint64_t> numbers) {
  places_.resize(kPlaces);
  ++age_;
  for (const uint64_t number : numbers) {
    size_t at = (number * 0x9e3779b97f4a7c15u) >> (64 - kPlaceBits);
    while (places_[at].age == age_) {
      if (places_[at].number == number) return true;
      at = (at + 1) % kPlaces;
    }
    places_[at] = {.number = number, .age = age_};
  }
  return false;
}

void TickSpace::Begin(size_t lane_count) {
  if (inputs.capacity() > kMostKeptTokens)
    inputs = std::vector<Token>();  // {} would keep the memory
  inputs.clear();
  drawn.clear();
  lanes.clear();
  work.clear();
  slots.clear();
  slots.resize(lane_count);
  lanes.reserve(lane_count);
  work.reserve(lane_count);
  numbers.reserve(lane_count);
}

}  // namespace superfluid
