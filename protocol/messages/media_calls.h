#ifndef SUPERFLUID_PROTOCOL_MESSAGES_MEDIA_CALLS_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_MEDIA_CALLS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "protocol/messages/ids.h"
#include "protocol/messages/memory_messages.h"

// State sync calls about the model itself (adapters, capabilities, stages, embeddings) and images.
// Paths are any bytes but NUL.
namespace superfluid::linkw {

struct Embed {
  std::vector<Token> tokens;
  bool operator==(const Embed&) const = default;
};
struct EmbedResult {
  std::vector<float> embedding;
  bool operator==(const EmbedResult&) const = default;
};

struct LoraLoad {
  std::string adapter_path;
  bool operator==(const LoraLoad&) const = default;
};
struct LoraUnload {
  bool operator==(const LoraUnload&) const = default;
};
struct GetLoraId {
  bool operator==(const GetLoraId&) const = default;
};
struct LoraIdResult {  // of all three: what is loaded now
  LoraId lora_id{};
  bool operator==(const LoraIdResult&) const = default;
};

struct Capabilities {
  bool operator==(const Capabilities&) const = default;
};
struct CapabilitiesResult {
  std::string json;
  bool operator==(const CapabilitiesResult&) const = default;
};

// Runs layers [start_layer, end_layer). The first stage gets tokens and no hidden state
// (monostate); a later one gets the previous stage's, inline or in a buffer.
struct ForwardStage {
  std::vector<Token> tokens;
  uint32_t start_layer = 0;
  uint32_t end_layer = 0;
  std::variant<std::monostate, std::string, BufferSpan> hidden_in;
  bool operator==(const ForwardStage&) const = default;
};
struct ForwardStageResult {
  std::variant<std::string, Token> output;  // hidden state, or from the last stage the token
  bool operator==(const ForwardStageResult&) const = default;
};

struct MediaInfo {
  uint32_t n_tokens = 0;
  uint32_t image_token_id = 0;
  uint32_t boi_token_id = 0;
  uint32_t eoi_token_id = 0;
  uint64_t preprocess_fp = 0;
  bool operator==(const MediaInfo&) const = default;
};

struct MediaProbe {
  std::string path;
  bool operator==(const MediaProbe&) const = default;
};
struct MediaProbeResult {
  MediaInfo info;
  bool operator==(const MediaProbeResult&) const = default;
};

struct MediaEncode {
  std::string path;
  bool operator==(const MediaEncode&) const = default;
};
struct MediaEncodeResult {
  MediaHandle media_handle{};
  MediaInfo info;
  bool operator==(const MediaEncodeResult&) const = default;
};

struct MediaRelease {
  MediaHandle media_handle{};
  bool operator==(const MediaRelease&) const = default;
};
struct MediaReleaseResult {
  bool operator==(const MediaReleaseResult&) const = default;
};

struct MediaBind {
  LaneTag lane_tag{};
  MediaHandle media_handle{};
  uint64_t token_offset = 0;
  bool operator==(const MediaBind&) const = default;
};
struct MediaBindResult {
  bool operator==(const MediaBindResult&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_MEDIA_CALLS_H_
