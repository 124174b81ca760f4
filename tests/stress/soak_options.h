#ifndef SUPERFLUID_TESTS_STRESS_SOAK_OPTIONS_H_
#define SUPERFLUID_TESTS_STRESS_SOAK_OPTIONS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace superfluid::stress {

struct SoakOptions {
  std::string worker;                   // command line, without --listen
  std::vector<std::string> recordings;  // audio files; with some made of noise
  int seconds = 60;
  int link_seconds = 5;  // a link lives twice as long at most
  uint64_t seed = 1;
  int speech = 3;  // loads of a kind on a link
  int live = 1;
  int ticks = 2;
  int ops = 1;
  bool greedy = false;  // draws at temperature 0 only
  int slowest_pong_ms = 2000;
  int most_growth_mib = 512;
  int pool_mib = 0;  // of an engine's pools, which it fills and empties as it likes
};

// Says all there is to say; leave with this code.
struct Leave {
  int code = 0;
  std::string out;
  std::string err;
};

std::variant<SoakOptions, Leave> ParseSoakOptions(int argc, const char* const* argv);

}  // namespace superfluid::stress

#endif  // SUPERFLUID_TESTS_STRESS_SOAK_OPTIONS_H_
