// The picture: a row a figure, drawn on a logarithmic scale as multiples of its target, so that one
// look says which rows are left of the line (reached) and which are right of it.

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "tools/bench/report.h"

namespace superfluid::bench {
namespace {

constexpr double kTextWidth = 420;
constexpr double kBarsWidth = 420;
constexpr double kRow = 20;
constexpr double kTop = 70;
constexpr double kLeast = 1.0 / 32;  // multiples of the target at the two edges
constexpr double kMost = 32;
constexpr double kWidth = kTextWidth + kBarsWidth + 120;
constexpr char kReached[] = "#2a7f62";
constexpr char kMissed[] = "#c8553d";

// A target of 0 is reached by 0 and less, and missed by whatever is more.
double Multiple(double value, double target) {
  if (target > 0) return value / target;
  return value > 0 ? kMost : kLeast;
}

double XOf(double multiple) {
  const double bounded = std::clamp(multiple, kLeast, kMost);
  return kTextWidth + kBarsWidth * std::log(bounded / kLeast) / std::log(kMost / kLeast);
}

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

void AddText(std::string& svg, double x, double y, const std::string& text,
             const std::string& more = "") {
  absl::StrAppendFormat(&svg, "<text x=\"%.0f\" y=\"%.0f\" %s>%s</text>\n", x, y, more,
                        Escaped(text));
}

void AddLine(std::string& svg, double x, double height, const char* colour) {
  absl::StrAppendFormat(&svg,
                        "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\" stroke=\"%s\"/>\n",
                        x, x, kTop - 8, height - 12, colour);
}

void AddScale(std::string& svg, double height) {
  for (double multiple = kLeast; multiple <= kMost; multiple *= 2) {
    AddLine(svg, XOf(multiple), height, "#e4e4e4");
  }
  AddLine(svg, XOf(1), height, "#202020");
  AddText(svg, XOf(1), kTop - 14, "target", "text-anchor=\"middle\"");
  AddText(svg, XOf(1.0 / 8), kTop - 14, "1/8", "text-anchor=\"middle\" fill=\"#808080\"");
  AddText(svg, XOf(8), kTop - 14, "8 times", "text-anchor=\"middle\" fill=\"#808080\"");
}

void AddRow(std::string& svg, double y, const Figure& figure) {
  const double target = *figure.target;
  const bool reached = figure.value.median <= target;
  const char* const colour = reached ? kReached : kMissed;
  const std::string where =
      figure.placement.empty() ? "" : absl::StrCat(" (", figure.placement, ")");
  AddText(svg, kTextWidth - 10, y + 4, figure.name + where, "text-anchor=\"end\"");
  const double left = XOf(Multiple(figure.value.p10, target));
  const double right = XOf(Multiple(figure.value.p90, target));
  absl::StrAppendFormat(
      &svg,
      "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"6\" fill=\"%s\" opacity=\"0.35\"/>\n",
      left, y - 3, std::max(1.0, right - left), colour);
  absl::StrAppendFormat(&svg, "<circle cx=\"%.1f\" cy=\"%.0f\" r=\"5\" fill=\"%s\"/>\n",
                        XOf(Multiple(figure.value.median, target)), y, colour);
  AddText(svg, kTextWidth + kBarsWidth + 10, y + 4,
          absl::StrFormat("%.3g / %.3g %s", figure.value.median, target, figure.unit),
          absl::StrFormat("fill=\"%s\"", colour));
}

}  // namespace

std::string SvgOf(const Report& report) {
  const auto rows = std::count_if(report.figures.begin(), report.figures.end(),
                                  [](const Figure& figure) { return figure.target.has_value(); });
  const double height = kTop + kRow * static_cast<double>(rows) + 20;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http:"
      "//www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, height);
  AddText(svg, 20, 24,
          absl::StrCat("superfluid bench ", report.version, report.is_void() ? ": VOID" : ""),
          "font-size=\"16\" font-weight=\"bold\"");
  AddText(svg, 20, 42,
          absl::StrCat("median and 10th to 90th percentile as multiples of the target; ",
                       report.cpu, ", ", report.kernel));
  AddScale(svg, height);
  double y = kTop + 8;
  for (const Figure& figure : report.figures) {
    if (!figure.target) continue;
    AddRow(svg, y, figure);
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace superfluid::bench
