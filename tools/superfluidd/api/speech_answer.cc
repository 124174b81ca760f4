#include "tools/superfluidd/api/speech_answer.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "protocol/messages/text_join.h"
#include "tools/ctl/formats/srt_format.h"
#include "tools/ctl/formats/vtt_format.h"
#include "tools/superfluidd/api/language_name.h"

namespace superfluid::daemon {
namespace {

constexpr double kMsPerSecond = 1000;
constexpr double kLeastProbability = 1e-9;  // whose logarithm is a number

double Seconds(int64_t ms) { return static_cast<double>(ms) / kMsPerSecond; }

std::string Cues(ctl::TranscriptFormat& format, const linkw::TranscribeResult& result) {
  std::string text = format.Begin();
  for (const linkw::TranscriptSegment& segment : result.segments) {
    linkw::TranscribeSegment numbered;
    static_cast<linkw::TranscriptSegment&>(numbered) = segment;
    text += format.Segment(numbered, absl::ZeroDuration());
  }
  return text;
}

HttpReply TextReply(const char* type, std::string body) {
  return {.status = 200, .content_type = type, .body = std::move(body), .headers = {}};
}

// Engines that make no figures leave them at 0, which no ratio of compression is.
Json Figure(const linkw::TranscriptSegment& segment, float value) {
  const bool is_made = value != 0 || segment.compression_ratio != 0;
  return is_made ? Json(ctl::JsonFloat(value)) : Json(nullptr);
}

Json SegmentJson(const linkw::TranscriptSegment& segment, size_t id) {
  return {{"id", id},
          {"seek", 0},
          {"start", Seconds(segment.start_ms)},
          {"end", Seconds(segment.end_ms)},
          {"text", segment.text},
          {"tokens", Json::array()},
          {"temperature", ctl::JsonFloat(segment.temperature)},
          {"avg_logprob", Figure(segment, segment.avg_logprob)},
          {"compression_ratio", Figure(segment, segment.compression_ratio)},
          {"no_speech_prob", Figure(segment, segment.no_speech_prob)}};
}

Json WordsJson(const linkw::TranscribeResult& result) {
  Json words = Json::array();
  for (const linkw::TranscriptSegment& segment : result.segments) {
    for (const linkw::TranscriptWord& word : segment.words) {
      words.push_back(
          {{"word", word.text}, {"start", Seconds(word.start_ms)}, {"end", Seconds(word.end_ms)}});
    }
  }
  return words;
}

Json VerboseJson(const SpeechForm& form, const linkw::TranscribeResult& result) {
  Json json = {{"task", form.task == SpeechTask::kTranslate ? "translate" : "transcribe"},
               {"language", LanguageName(result.language)},
               {"duration", Seconds(result.duration_ms)},
               {"text", result.text}};
  if (form.words) json["words"] = WordsJson(result);
  if (form.segments || !form.words) {
    Json segments = Json::array();
    for (const auto& segment : result.segments) {
      segments.push_back(SegmentJson(segment, segments.size()));
    }
    json["segments"] = std::move(segments);
  }
  json["usage"] = DurationUsage(result);
  return json;
}

Json AllLogprobs(const linkw::TranscribeResult& result) {
  Json all = Json::array();
  for (const linkw::TranscriptSegment& segment : result.segments) {
    for (Json& entry : LogprobsJson(segment.words)) all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace

Json DurationUsage(const linkw::TranscribeResult& result) {
  return {{"type", "duration"}, {"seconds", std::ceil(Seconds(result.duration_ms))}};
}

Json LogprobsJson(const std::vector<linkw::TranscriptWord>& words) {
  Json entries = Json::array();
  for (const linkw::TranscriptWord& word : words) {
    Json bytes = Json::array();
    for (const char c : word.text) bytes.push_back(static_cast<unsigned char>(c));
    const double probability = std::max<double>(word.probability, kLeastProbability);
    entries.push_back({{"token", word.text}, {"bytes", bytes}, {"logprob", std::log(probability)}});
  }
  return entries;
}

HttpReply SpeechAnswer(const SpeechForm& form, const linkw::TranscribeResult& result) {
  switch (form.format) {
    case AnswerFormat::kText:
      return TextReply("text/plain; charset=utf-8", result.text + "\n");
    case AnswerFormat::kSrt: {
      ctl::SrtFormat format;
      return TextReply("application/x-subrip; charset=utf-8", Cues(format, result));
    }
    case AnswerFormat::kVtt: {
      ctl::VttFormat format;
      return TextReply("text/vtt; charset=utf-8", Cues(format, result));
    }
    case AnswerFormat::kVerboseJson:
      return JsonReply(200, VerboseJson(form, result));
    case AnswerFormat::kJson:
      break;
  }
  Json json = {{"text", result.text}};
  if (form.logprobs) json["logprobs"] = AllLogprobs(result);
  json["usage"] = DurationUsage(result);
  return JsonReply(200, json);
}

std::string DeltaText::Add(std::string_view segment_text) {
  if (segment_text.empty()) return "";
  const std::string_view gap = linkw::Separator(text_, segment_text);
  const std::string delta = std::string(gap) + std::string(segment_text);
  text_ += delta;
  return delta;
}

std::string DeltaText::Rest(std::string_view whole) {
  if (whole.size() <= text_.size() || whole.substr(0, text_.size()) != text_) return "";
  const std::string rest(whole.substr(text_.size()));
  text_ += rest;
  return rest;
}

std::string ServerSentEvent(const Json& json) {
  // A line of JSON has its line break already.
  return absl::StrCat("data: ", ctl::JsonLine(json), "\n");
}

Json DeltaEvent(const std::string& delta, const SpeechForm& form,
                const linkw::TranscriptSegment* segment) {
  Json event = {{"type", "transcript.text.delta"}, {"delta", delta}};
  if (form.logprobs && segment != nullptr) event["logprobs"] = LogprobsJson(segment->words);
  return event;
}

Json DoneEvent(const std::string& text, const SpeechForm& form,
               const linkw::TranscribeResult& result) {
  Json event = {{"type", "transcript.text.done"}, {"text", text}};
  if (form.logprobs) event["logprobs"] = AllLogprobs(result);
  return event;
}

}  // namespace superfluid::daemon
