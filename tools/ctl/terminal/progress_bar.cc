#include "tools/ctl/terminal/progress_bar.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {
namespace {

constexpr size_t kMinBar = 8;
constexpr size_t kMaxBar = 30;
constexpr size_t kMinHypothesis = 10;
constexpr absl::Duration kMarkTick = absl::Milliseconds(200);

double DoneFraction(const Progress& progress) {
  if (progress.audio_total_ms <= 0) return 0;
  const double fraction =
      static_cast<double>(progress.audio_ms) / static_cast<double>(progress.audio_total_ms);
  return std::clamp(fraction, 0.0, 1.0);
}

std::string Percent(const Progress& progress) {
  if (progress.audio_total_ms <= 0) return "";
  return absl::StrFormat("%3d%%", static_cast<int>(DoneFraction(progress) * 100));
}

std::string Position(const Progress& progress) {
  std::string text = ShortTimestampText(progress.audio_ms);
  if (progress.audio_total_ms > 0) {
    absl::StrAppend(&text, " / ", ShortTimestampText(progress.audio_total_ms));
  }
  return text;
}

std::string Speed(const Progress& progress) {
  if (progress.elapsed <= absl::ZeroDuration()) return "";
  const double speed = absl::FDivDuration(absl::Milliseconds(progress.audio_ms), progress.elapsed);
  return absl::StrFormat("%.1fx", std::max(speed, 0.0));
}

// `width` columns between the brackets.
std::string Bar(double fraction, size_t width) {
  const auto filled = static_cast<size_t>(fraction * static_cast<double>(width));
  std::string bar(filled, '=');
  if (filled < width) bar.push_back('>');
  bar.resize(width, ' ');
  return absl::StrCat("[", bar, "]");
}

void AppendIfItFits(std::string* line, const std::string& part, std::string_view gap,
                    size_t columns) {
  const size_t gap_columns = line->empty() ? 0 : gap.size();
  if (part.empty() || ColumnsOf(*line) + gap_columns + ColumnsOf(part) > columns) return;
  if (!line->empty()) line->append(gap);
  line->append(part);
}

// Goes to and fro, a column a tick.
std::string MovingMark(absl::Duration elapsed, size_t width) {
  constexpr std::string_view mark = "<=>";
  const auto way = static_cast<int64_t>(width - mark.size());
  const int64_t at = elapsed / kMarkTick % (2 * way);
  std::string bar(width, ' ');
  bar.replace(static_cast<size_t>(std::min(at, 2 * way - at)), mark.size(), mark);
  return absl::StrCat("[", bar, "]");
}

std::string RenderWaiting(const Progress& progress, size_t columns) {
  const std::string text = absl::StrFormat("%.1f s, no text yet",
                                           std::max(absl::ToDoubleSeconds(progress.elapsed), 0.0));
  std::string line;
  if (columns >= text.size() + kMinBar + 3) {
    line = MovingMark(progress.elapsed, std::min(columns - text.size() - 3, kMaxBar));
  }
  AppendIfItFits(&line, text, " ", columns);
  return line;
}

}  // namespace

std::string RenderProgress(const Progress& progress, size_t columns) {
  const bool nothing_known = progress.audio_ms <= 0 && progress.audio_total_ms <= 0;
  if (nothing_known && progress.hypothesis.empty()) return RenderWaiting(progress, columns);
  const std::string percent = Percent(progress);
  std::string rest;
  const size_t beside_percent = columns - std::min(columns, percent.size() + 1);
  AppendIfItFits(&rest, Position(progress), "", beside_percent);
  AppendIfItFits(&rest, Speed(progress), "  ", beside_percent);

  std::string line;
  AppendIfItFits(&line, percent, "", columns);
  const size_t bar_columns = beside_percent - std::min(beside_percent, ColumnsOf(rest) + 3);
  if (progress.audio_total_ms > 0 && bar_columns >= kMinBar) {
    AppendIfItFits(&line, Bar(DoneFraction(progress), std::min(bar_columns, kMaxBar)), " ",
                   columns);
  }
  AppendIfItFits(&line, rest, " ", columns);

  const size_t used = ColumnsOf(line) + 2;
  if (columns >= used + kMinHypothesis) {
    AppendIfItFits(&line, LastColumns(OneLine(progress.hypothesis), columns - used), "  ", columns);
  }
  return line;
}

}  // namespace superfluid::ctl
