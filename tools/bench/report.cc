#include "tools/bench/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace superfluid::bench {
namespace {

using Json = nlohmann::ordered_json;

// Three digits that say something.
std::string Short(double number) {
  if (number >= 100) return absl::StrFormat("%.0f", number);
  return absl::StrFormat(number >= 10 ? "%.1f" : "%.2f", number);
}

std::string TextOf(const Spread& spread, const std::string& unit) {
  const std::string name = unit.empty() ? "" : absl::StrCat(" ", unit);
  std::string text = absl::StrCat(Short(spread.median), name);
  if (spread.p10 == spread.p90) return text;
  return absl::StrFormat("%-12s %s to %s", text, Short(spread.p10), Short(spread.p90));
}

Json JsonOf(const Spread& spread) {
  return {{"median", spread.median}, {"p10", spread.p10}, {"p90", spread.p90}};
}

std::string LaneText(size_t lanes) {
  if (lanes == 0) return "PING";
  return absl::StrCat(lanes, lanes == 1 ? " lane" : " lanes");
}

// The name in its column: %-Ns counts bytes, and all names are ASCII.
void AddFigures(const Report& report, std::string& table) {
  std::string placement = "\n";
  for (const Figure& figure : report.figures) {
    if (figure.placement != placement) {
      placement = figure.placement;
      absl::StrAppend(&table, "\n", placement.empty() ? "any placement" : placement, "\n");
    }
    std::string verdict;
    if (figure.target) {
      verdict = absl::StrFormat("  target <= %s%s", Short(*figure.target),
                                figure.value.median <= *figure.target ? "" : "  MISSED");
    }
    absl::StrAppendFormat(&table, "  %-44s %-30s%s\n", figure.name,
                          TextOf(figure.value, figure.unit), verdict);
  }
}

void AddRoundTrips(const Report& report, std::string& table) {
  absl::StrAppend(&table, "\nround trips in us: median, 10th to 90th percentile of the rounds\n");
  for (const RoundTrips& trips : report.round_trips) {
    absl::StrAppendFormat(&table, "  %-20s %-10s %-24s %s\n", trips.placement,
                          LaneText(trips.lanes), trips.contestant, TextOf(trips.us, ""));
  }
}

}  // namespace

bool Report::is_void() const {
  return std::any_of(controls.begin(), controls.end(),
                     [](const Control& control) { return control.is_void(); });
}

std::string TableOf(const Report& report) {
  std::string table = absl::StrFormat(
      "superfluid bench %s%s\n%s, %s, CPUs %s; %.1f %% steal, %.1f %% busy with others before\n",
      report.version, report.quick ? ", quick" : "", report.kernel, report.cpu,
      absl::StrJoin(report.cpus, ","), report.steal_percent, report.others_percent);
  for (const Control& control : report.controls) {
    absl::StrAppendFormat(&table, "A/A control, %s: %s%s\n", control.placement,
                          TextOf(control.ratio, ""), control.is_void() ? "  VOID" : "");
  }
  AddFigures(report, table);
  AddRoundTrips(report, table);
  if (report.is_void()) {
    absl::StrAppend(&table,
                    "\nVOID: two equal contestants came apart; run again on a quiet machine\n");
  }
  return table;
}

std::string JsonOf(const Report& report) {
  Json json = {{"version", report.version},
               {"kernel", report.kernel},
               {"cpu", report.cpu},
               {"cpus", report.cpus},
               {"steal_percent", report.steal_percent},
               {"others_percent", report.others_percent},
               {"quick", report.quick},
               {"void", report.is_void()}};
  for (const Control& control : report.controls) {
    json["controls"].push_back({{"placement", control.placement},
                                {"ratio", JsonOf(control.ratio)},
                                {"void", control.is_void()}});
  }
  for (const Figure& figure : report.figures) {
    Json one = {{"name", figure.name},
                {"placement", figure.placement},
                {"unit", figure.unit},
                {"value", JsonOf(figure.value)}};
    if (figure.target) one["target"] = *figure.target;
    json["figures"].push_back(one);
  }
  for (const RoundTrips& trips : report.round_trips) {
    json["round_trips"].push_back({{"placement", trips.placement},
                                   {"lanes", trips.lanes},
                                   {"contestant", trips.contestant},
                                   {"us", JsonOf(trips.us)}});
  }
  return json.dump(2) + "\n";
}

}  // namespace superfluid::bench
