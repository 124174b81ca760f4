#ifndef SUPERFLUID_TOOLS_BENCH_EFFORT_H_
#define SUPERFLUID_TOOLS_BENCH_EFFORT_H_

namespace superfluid::bench {

// How much is measured.
struct Effort {
  int rounds = 30;
  int operations = 100;    // of each contestant in a round, at one lane; fewer at more lanes
  int paced_ticks = 1000;  // for CPU and sleeps a tick
  int cancels = 40;
  int pings = 30;          // of each kind in a round, while the engine is busy
  int requests = 100'000;  // for what grows
  int observers = 200;
  int idle_seconds = 10;
};

inline constexpr Effort kFullEffort = {};
inline constexpr Effort kQuickEffort = {.rounds = 7,
                                        .operations = 25,
                                        .paced_ticks = 150,
                                        .cancels = 5,
                                        .pings = 8,
                                        .requests = 4000,
                                        .observers = 200,
                                        .idle_seconds = 2};

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_EFFORT_H_
