#ifndef SUPERFLUID_TOOLS_BENCH_REPORT_H_
#define SUPERFLUID_TOOLS_BENCH_REPORT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/statistics.h"

namespace superfluid::bench {

// One line of the table.
struct Figure {
  std::string name;       // "tick, 1 lane / raw"
  std::string placement;  // "one core"; empty: the figure does not depend on it
  std::string unit;       // "x" for a ratio, "us", "%" ...
  Spread value;
  std::optional<double> target;  // at most so much is wanted
};

// How long round trips took: what the ratios were made of.
struct RoundTrips {
  std::string placement;
  size_t lanes = 0;  // 0: PING
  std::string contestant;
  Spread us;
};

// How far two equal contestants came apart.
struct Control {
  std::string placement;
  Spread ratio;
  // The machine was too restless for any ratio of this placement to mean much.
  bool is_void() const { return ratio.median < 0.95 || ratio.median > 1.05; }
};

// What a run found, and on which machine.
struct Report {
  std::string version;
  std::string kernel;
  std::string cpu;
  std::vector<int> cpus;      // that we may use
  double steal_percent = 0;   // over the run
  double others_percent = 0;  // load of the machine before the run began
  bool quick = false;
  std::vector<Control> controls;
  std::vector<Figure> figures;
  std::vector<RoundTrips> round_trips;

  bool is_void() const;
};

// For people.
std::string TableOf(const Report& report);
// The whole report, for programs.
std::string JsonOf(const Report& report);
// A picture of the figures beside their targets.
std::string SvgOf(const Report& report);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_REPORT_H_
