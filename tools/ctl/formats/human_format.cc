#include "tools/ctl/formats/human_format.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {
namespace {

constexpr double kAbout = 0.95;  // from here on "1.0 times" would be said, which is neither

std::string Line(std::string_view name, std::string_view value) {
  return absl::StrFormat("%-12s %s\n", name, value);
}

std::string WordLines(const linkw::TranscriptSegment& segment) {
  std::string lines;
  for (const linkw::TranscriptWord& word : segment.words) {
    absl::StrAppendFormat(&lines, "    %s --> %s  %4.2f  %s\n", TimestampText(word.start_ms),
                          TimestampText(word.end_ms), word.probability, OneLine(word.text));
  }
  return lines;
}

std::string StepsText(const linkw::TranscribeStats& stats) {
  return absl::StrFormat("%d (%s inside the engine, %s in its queue)", stats.engine_steps,
                         DurationText(absl::Microseconds(stats.engine_us)),
                         DurationText(absl::Microseconds(stats.queue_us)));
}

std::string AudioLine(const TranscriptionOutcome& outcome) {
  const int64_t done_ms = TranscribedMs(outcome);
  std::string text = TimestampText(done_ms);
  if (outcome.status == linkw::Status::kOk) return Line("audio", text);
  const auto total_ms = static_cast<int64_t>(outcome.result.stats.audio_total_ms);
  if (total_ms > done_ms) absl::StrAppend(&text, " of ", TimestampText(total_ms));
  return Line("transcribed", text);
}

std::string Figures(const TranscriptionOutcome& outcome) {
  const linkw::TranscribeResult& result = outcome.result;
  std::string lines = AudioLine(outcome);
  lines += Line("elapsed", DurationText(outcome.figures.elapsed));
  if (const std::string factor = RealTimeFactorText(outcome); !factor.empty()) {
    lines += Line("real time", factor);
  }
  if (!result.language.empty()) lines += Line("language", OneLine(result.language));
  lines += Line("engine steps", StepsText(result.stats));
  return lines;
}

}  // namespace

int64_t TranscribedMs(const TranscriptionOutcome& outcome) {
  const linkw::TranscribeResult& result = outcome.result;
  if (outcome.status == linkw::Status::kOk) return result.duration_ms;
  return result.segments.empty() ? 0 : result.segments.back().end_ms;
}

std::string RealTimeFactorText(const TranscriptionOutcome& outcome) {
  if (outcome.status != linkw::Status::kOk) return "";
  const absl::Duration audio = absl::Milliseconds(outcome.result.duration_ms);
  const absl::Duration elapsed = outcome.figures.elapsed;
  if (audio <= absl::ZeroDuration() || elapsed <= absl::ZeroDuration()) return "";
  const double factor = absl::FDivDuration(elapsed, audio);
  const double speed = absl::FDivDuration(audio, elapsed);
  if (speed > kAbout && factor > kAbout) {
    return absl::StrFormat("factor %.3f (as fast as the audio)", factor);
  }
  if (speed >= 1) {
    return absl::StrFormat("factor %.3f (%.1f times faster than the audio)", factor, speed);
  }
  return absl::StrFormat("factor %.3f (%.1f times slower than the audio)", factor, factor);
}

std::string HumanFormat::Segment(const linkw::TranscribeSegment& segment, absl::Duration) {
  std::string line;
  if (options_.timestamps) {
    line = absl::StrFormat("[%s --> %s] ", TimestampText(segment.start_ms),
                           TimestampText(segment.end_ms));
  }
  if (segment.is_partial) line += "(so far) ";
  absl::StrAppend(&line, OneLine(segment.text), "\n");
  if (segment.is_partial) return line;
  any_segment_ = true;
  if (options_.words) line += WordLines(segment);
  return line;
}

std::string HumanFormat::End(const TranscriptionOutcome& outcome) {
  const bool nothing = !any_segment_ && outcome.result.duration_ms == 0;
  if (outcome.status != linkw::Status::kOk && nothing) return "";
  std::string text = OneLine(outcome.result.text);
  if (text.empty()) text = outcome.status == linkw::Status::kOk ? "(no speech)" : "(no text yet)";
  const bool lines_were_text = any_segment_ && !options_.timestamps;
  if (!lines_were_text) absl::StrAppend(&text, "\n\n");
  return absl::StrCat(any_segment_ ? "\n" : "", lines_were_text ? "" : text, Figures(outcome));
}

}  // namespace superfluid::ctl
