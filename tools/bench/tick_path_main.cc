// tick_path LANES TICKS: runs the tick path so many times, for an instrument that counts
// instructions. What it counts between is the function superfluid_measured_ticks (callgrind's
// --toggle-collect).

#include <cstdio>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "tools/bench/tick_path.h"

extern "C" [[gnu::noinline]] void superfluid_measured_ticks(superfluid::bench::TickPath& path,
                                                            int ticks) {
  for (int i = 0; i < ticks; ++i) path.Run();
}

int main(int argc, char** argv) {
  int lanes = 0;
  int ticks = 0;
  if (argc != 3 || !absl::SimpleAtoi(argv[1], &lanes) || !absl::SimpleAtoi(argv[2], &ticks) ||
      lanes < 1) {
    std::fputs("usage: tick_path LANES TICKS\n", stderr);
    return 2;
  }
  auto path = superfluid::bench::TickPath::Make(static_cast<size_t>(lanes));
  if (!path.ok()) {
    std::fprintf(stderr, "tick_path: %s\n", path.status().ToString().c_str());
    return 1;
  }
  for (int i = 0; i < 4; ++i) (*path)->Run();  // what is made once is there
  superfluid_measured_ticks(**path, ticks);
  return 0;
}
