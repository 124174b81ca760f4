#include "tools/superfluidd/api/realtime_protocol.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace superfluid::daemon {
namespace {

constexpr int64_t kMaxMs = 60'000;
constexpr uint32_t kTelephoneRate = 8000;
constexpr uint32_t kLeastRate = 8000;
constexpr uint32_t kMostRate = 48000;
constexpr int kMaxDepth = 16;

ApiError Wrong(std::string message, std::string param) {
  return {.status = 400,
          .message = std::move(message),
          .type = "invalid_request_error",
          .code = "invalid_value",
          .param = std::move(param)};
}

// The member of an object; null if it is none, or has none of that name.
const Json* Member(const Json* object, const char* name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

std::string TextOf(const Json* value, const std::string& otherwise = "") {
  return value != nullptr && value->is_string() ? value->get<std::string>() : otherwise;
}

int64_t MsOf(const Json* value, int64_t otherwise) {
  if (value == nullptr || !value->is_number()) return otherwise;
  return std::clamp<int64_t>(static_cast<int64_t>(std::clamp(value->get<double>(), 0.0, 1e6)), 0,
                             kMaxMs);
}

std::optional<ApiError> SetCoding(const std::string& name, RealtimeSettings& settings) {
  if (name == "audio/pcm" || name == "pcm16") {
    settings.coding = AudioCoding::kPcm16;
    settings.rate_hz = 24000;
  } else if (name == "audio/pcmu" || name == "g711_ulaw") {
    settings.coding = AudioCoding::kMuLaw;
    settings.rate_hz = kTelephoneRate;
  } else if (name == "audio/pcma" || name == "g711_alaw") {
    settings.coding = AudioCoding::kALaw;
    settings.rate_hz = kTelephoneRate;
  } else {
    return Wrong(absl::StrCat("there is no audio format '", name, "'"),
                 "session.audio.input.format");
  }
  return std::nullopt;
}

void SetTranscription(const Json* transcription, RealtimeSettings& settings) {
  if (transcription == nullptr) return;
  settings.model = TextOf(Member(transcription, "model"), settings.model);
  settings.language = TextOf(Member(transcription, "language"), settings.language);
  settings.prompt = TextOf(Member(transcription, "prompt"), settings.prompt);
}

std::optional<ApiError> SetTurnDetection(const Json* turn, RealtimeSettings& settings) {
  if (turn == nullptr) return std::nullopt;
  if (turn->is_null()) {
    settings.turn_detection.reset();
    return std::nullopt;
  }
  const std::string type = TextOf(Member(turn, "type"), "server_vad");
  if (type != "server_vad") {
    return Wrong(absl::StrCat("there is no turn detection '", type, "': server_vad is, and null"),
                 "session.turn_detection.type");
  }
  TurnDetection detection;
  const Json* threshold = Member(turn, "threshold");
  if (threshold != nullptr && threshold->is_number()) {
    detection.threshold = std::clamp(threshold->get<double>(), 0.0, 1.0);
  }
  detection.prefix_ms = MsOf(Member(turn, "prefix_padding_ms"), detection.prefix_ms);
  detection.silence_ms =
      std::max<int64_t>(MsOf(Member(turn, "silence_duration_ms"), detection.silence_ms), 100);
  settings.turn_detection = detection;
  return std::nullopt;
}

void SetInclude(const Json* include, RealtimeSettings& settings) {
  if (include == nullptr || !include->is_array()) return;
  settings.logprobs = std::any_of(include->begin(), include->end(), [](const Json& item) {
    return item == "item.input_audio_transcription.logprobs";
  });
}

std::optional<ApiError> SetNewer(const Json* session, RealtimeSettings& settings) {
  const Json* input = Member(Member(session, "audio"), "input");
  const Json* format = Member(input, "format");
  if (format != nullptr) {
    if (auto error = SetCoding(TextOf(Member(format, "type")), settings)) return error;
    const Json* rate = Member(format, "rate");
    if (rate != nullptr && settings.coding == AudioCoding::kPcm16) {
      if (!rate->is_number_unsigned() || *rate < kLeastRate || *rate > kMostRate) {
        return Wrong("the rate is a whole number from 8000 to 48000",
                     "session.audio.input.format.rate");
      }
      settings.rate_hz = rate->get<uint32_t>();
    }
  }
  SetTranscription(Member(input, "transcription"), settings);
  SetInclude(Member(session, "include"), settings);
  return SetTurnDetection(Member(input, "turn_detection"), settings);
}

std::optional<ApiError> SetOlder(const Json* session, RealtimeSettings& settings) {
  const Json* format = Member(session, "input_audio_format");
  if (format != nullptr) {
    if (auto error = SetCoding(TextOf(format), settings)) return error;
  }
  SetTranscription(Member(session, "input_audio_transcription"), settings);
  SetInclude(Member(session, "include"), settings);
  return SetTurnDetection(Member(session, "turn_detection"), settings);
}

// vLLM's has a flat `model`; its audio is 16 kHz and ends when the client says so.
std::variant<ClientEvent, ApiError> ParseUpdate(const Json& json, bool older,
                                                RealtimeSettings settings, ClientEvent event) {
  UpdateSession update;
  const Json* session = Member(&json, "session");
  std::optional<ApiError> error;
  if (session == nullptr && Member(&json, "model") != nullptr) {
    update.dialect = Dialect::kVllm;
    settings.model = TextOf(Member(&json, "model"));
    settings.coding = AudioCoding::kPcm16;
    settings.rate_hz = 16000;
    settings.turn_detection.reset();
  } else if (older || Member(session, "input_audio_format") != nullptr ||
             Member(session, "input_audio_transcription") != nullptr) {
    update.dialect = older ? Dialect::kOpenAiOlder : Dialect::kOpenAi;
    error = SetOlder(session, settings);
  } else {
    error = SetNewer(session, settings);
  }
  if (error.has_value()) return *std::move(error);
  update.settings = std::move(settings);
  event.what = std::move(update);
  return event;
}

std::variant<ClientEvent, ApiError> ParseAppend(const Json& json, ClientEvent event) {
  AppendAudio append;
  const Json* audio = Member(&json, "audio");
  if (audio == nullptr || !audio->is_string() ||
      !absl::Base64Unescape(audio->get_ref<const std::string&>(), &append.bytes)) {
    return Wrong("audio is not base64", "audio");
  }
  event.what = std::move(append);
  return event;
}

Json TurnJson(const std::optional<TurnDetection>& turn) {
  if (!turn.has_value()) return nullptr;
  return {{"type", "server_vad"},
          {"threshold", turn->threshold},
          {"prefix_padding_ms", turn->prefix_ms},
          {"silence_duration_ms", turn->silence_ms}};
}

Json TranscriptionJson(const RealtimeSettings& settings) {
  return {{"model", settings.model}, {"language", settings.language}, {"prompt", settings.prompt}};
}

}  // namespace

std::variant<ClientEvent, ApiError> ParseClientEvent(std::string_view text,
                                                     const RealtimeSettings& current) {
  const Json json = Json::parse(
      text, [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxDepth; },
      /*allow_exceptions=*/false);
  if (!json.is_object()) return Wrong("this is no JSON object", "");
  ClientEvent event = {.event_id = TextOf(Member(&json, "event_id")), .what = ClearAudio{}};
  const std::string type = TextOf(Member(&json, "type"));
  if (type == "session.update" || type == "transcription_session.update") {
    return ParseUpdate(json, type != "session.update", current, std::move(event));
  }
  if (type == "input_audio_buffer.append") return ParseAppend(json, std::move(event));
  if (type == "input_audio_buffer.commit") {
    CommitAudio commit;
    const Json* final = Member(&json, "final");
    if (final != nullptr && final->is_boolean()) commit.final = final->get<bool>();
    event.what = commit;
    return event;
  }
  if (type == "input_audio_buffer.clear") return event;
  return Wrong(absl::StrCat("there is no event '", type, "' here"), "type");
}

Json SessionJson(const RealtimeSettings& settings, Dialect dialect, const std::string& id) {
  const char* const coding[] = {"pcm16", "g711_ulaw", "g711_alaw"};
  const char* const types[] = {"audio/pcm", "audio/pcmu", "audio/pcma"};
  const auto index = static_cast<size_t>(settings.coding);
  if (dialect == Dialect::kOpenAiOlder) {
    return {{"id", id},
            {"object", "realtime.transcription_session"},
            {"input_audio_format", coding[index]},
            {"input_audio_transcription", TranscriptionJson(settings)},
            {"turn_detection", TurnJson(settings.turn_detection)}};
  }
  return {{"id", id},
          {"object", "realtime.transcription_session"},
          {"type", "transcription"},
          {"audio",
           {{"input",
             {{"format", {{"type", types[index]}, {"rate", settings.rate_hz}}},
              {"transcription", TranscriptionJson(settings)},
              {"noise_reduction", nullptr},
              {"turn_detection", TurnJson(settings.turn_detection)}}}}},
          {"include", Json::array()}};
}

Json RealtimeErrorJson(const ApiError& error, const std::string& event_id, Dialect dialect) {
  if (dialect == Dialect::kVllm) {
    return {{"type", "error"}, {"error", error.message}, {"code", error.code}};
  }
  Json json = ErrorJson(error);
  json["error"]["event_id"] = event_id.empty() ? Json(nullptr) : Json(event_id);
  return {{"type", "error"}, {"error", json["error"]}};
}

Json ItemJson(const std::string& item_id) {
  return {{"id", item_id},
          {"type", "message"},
          {"object", "realtime.item"},
          {"status", "completed"},
          {"role", "user"},
          {"content", {{{"type", "input_audio"}, {"transcript", nullptr}}}}};
}

}  // namespace superfluid::daemon
