#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_REALTIME_PROTOCOL_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_REALTIME_PROTOCOL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "tools/superfluidd/api/api_error.h"

// What clients and the daemon say on /v1/realtime: OpenAI's transcription events in their newer and
// their older form, and vLLM's dialect. Pure functions over JSON.
namespace superfluid::daemon {

enum class AudioCoding { kPcm16, kMuLaw, kALaw };

struct TurnDetection {
  double threshold = 0.5;
  int64_t prefix_ms = 300;
  int64_t silence_ms = 500;
};

// What a session is set to.
struct RealtimeSettings {
  std::string model;
  std::string language;
  std::string prompt;
  AudioCoding coding = AudioCoding::kPcm16;
  uint32_t rate_hz = 24000;
  std::optional<TurnDetection> turn_detection = TurnDetection{};  // nullopt: the client commits
  bool logprobs = false;
};

enum class Dialect { kOpenAi, kOpenAiOlder, kVllm };

// ---- From the client

struct UpdateSession {
  Dialect dialect = Dialect::kOpenAi;
  RealtimeSettings settings;
};
struct AppendAudio {
  std::string bytes;
};
struct CommitAudio {
  std::optional<bool> final;  // vLLM's: false begins, true ends
};
struct ClearAudio {};

struct ClientEvent {
  std::string event_id;  // for errors
  std::variant<UpdateSession, AppendAudio, CommitAudio, ClearAudio> what;
};

// `current`: what an update starts from. Errors: with the code and the field.
std::variant<ClientEvent, ApiError> ParseClientEvent(std::string_view text,
                                                     const RealtimeSettings& current);

// ---- From the daemon

// The session object of session.created and session.updated.
Json SessionJson(const RealtimeSettings& settings, Dialect dialect, const std::string& id);

// {"type":"error","error":{...}}, in the dialect.
Json RealtimeErrorJson(const ApiError& error, const std::string& event_id, Dialect dialect);

// The object of a conversation.item.added or .created.
Json ItemJson(const std::string& item_id);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_REALTIME_PROTOCOL_H_
