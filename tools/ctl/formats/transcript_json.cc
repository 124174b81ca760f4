#include "tools/ctl/formats/transcript_json.h"

#include <optional>
#include <string>

#include "protocol/messages/status.h"

namespace superfluid::ctl {
namespace {

Json WordJson(const linkw::TranscriptWord& word) {
  return {{"start_ms", word.start_ms},
          {"end_ms", word.end_ms},
          {"text", word.text},
          {"probability", JsonFloat(word.probability)}};
}

Json StatsJson(const linkw::TranscribeStats& stats) {
  return {{"engine_steps", stats.engine_steps},
          {"engine_us", stats.engine_us},
          {"queue_us", stats.queue_us},
          {"cancel_to_stop_us", stats.cancel_to_stop_us},
          {"steps_after_cancel", stats.steps_after_cancel},
          {"audio_total_ms", stats.audio_total_ms}};
}

Json OptionalMs(const std::optional<absl::Duration>& duration) {
  return duration.has_value() ? Json(JsonMs(*duration)) : Json(nullptr);
}

Json ClientJson(const TranscriptionOutcome& outcome) {
  const ClientFigures& figures = outcome.figures;
  Json json = {{"elapsed_ms", JsonMs(figures.elapsed)},
               {"first_segment_ms", OptionalMs(figures.first_segment)},
               {"cancel_ms", OptionalMs(figures.cancel)},
               {"real_time_factor", nullptr}};
  // Of what did not go to its end nobody knows how much was really done.
  if (outcome.status == linkw::Status::kOk && outcome.result.duration_ms > 0) {
    json["real_time_factor"] = JsonFloat(static_cast<float>(
        absl::FDivDuration(figures.elapsed, absl::Milliseconds(outcome.result.duration_ms))));
  }
  return json;
}

}  // namespace

Json SegmentJson(const linkw::TranscriptSegment& segment) {
  Json words = Json::array();
  for (const linkw::TranscriptWord& word : segment.words) words.push_back(WordJson(word));
  return {{"start_ms", segment.start_ms},
          {"end_ms", segment.end_ms},
          {"text", segment.text},
          {"avg_logprob", JsonFloat(segment.avg_logprob)},
          {"no_speech_prob", JsonFloat(segment.no_speech_prob)},
          {"compression_ratio", JsonFloat(segment.compression_ratio)},
          {"temperature", JsonFloat(segment.temperature)},
          {"words", words}};
}

Json OutcomeJson(const TranscriptionOutcome& outcome) {
  const linkw::TranscribeResult& result = outcome.result;
  Json segments = Json::array();
  for (const linkw::TranscriptSegment& segment : result.segments) {
    segments.push_back(SegmentJson(segment));
  }
  return {
      {"file", outcome.file},         {"status", std::string(linkw::StatusName(outcome.status))},
      {"message", outcome.message},   {"text", result.text},
      {"language", result.language},  {"duration_ms", result.duration_ms},
      {"segments", segments},         {"stats", StatsJson(result.stats)},
      {"client", ClientJson(outcome)}};
}

}  // namespace superfluid::ctl
