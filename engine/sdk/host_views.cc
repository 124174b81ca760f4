#include "engine/sdk/host_views.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/abi/sized_struct.h"
#include "engine/abi/status_codes.h"

namespace superfluid::sdk {
namespace {

constexpr size_t kMessageBytes = 512;

// Room for the host's error message.
class Message {
 public:
  Message() : error_{text_.data(), text_.size()} {}
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() = default;
  sfl_error* error() { return &error_; }
  absl::string_view text() const { return text_.data(); }

 private:
  std::array<char, kMessageBytes> text_ = {};
  sfl_error error_;
};

absl::StatusOr<AudioSource::State> StateFromAbi(uint32_t state) {
  switch (state) {
    case SFL_AUDIO_MORE:
      return AudioSource::State::kMore;
    case SFL_AUDIO_STARVED:
      return AudioSource::State::kStarved;
    case SFL_AUDIO_END:
      return AudioSource::State::kEnd;
    default:
      return absl::InternalError("the host's audio is in an unknown state");
  }
}

CancelReason ReasonFromHost(uint32_t reason) noexcept {
  // A reason of a later host is still a cancel.
  return reason > static_cast<uint32_t>(CancelReason::kTooLong) ? CancelReason::kRequested
                                                                : static_cast<CancelReason>(reason);
}

sfl_string View(const std::string& text) { return {text.data(), text.size()}; }

std::vector<sfl_word> AbiWords(const std::vector<TranscribedWord>& words) {
  std::vector<sfl_word> abi_words;
  abi_words.reserve(words.size());
  for (const TranscribedWord& word : words) {
    abi_words.push_back({word.start_ms, word.end_ms, View(word.text), word.probability, 0});
  }
  return abi_words;
}

}  // namespace

HostAudio::HostAudio(const sfl_audio& audio) : audio_(CopyIn(&audio)) {}

absl::StatusOr<AudioSource::Block> HostAudio::Read(absl::Span<float> out) {
  sfl_audio_block raw = {};
  Message message;
  const sfl_status code = audio_.read(audio_.user, out.data(), out.size(), &raw, message.error());
  if (code != SFL_OK) return StatusFromAbi(code, message.text());
  const absl::StatusOr<State> state = StateFromAbi(raw.state);
  if (!state.ok()) return state.status();
  if (raw.frames > out.size()) return absl::InternalError("the host read more than asked for");
  return Block{raw.frames, *state};
}

std::optional<absl::Duration> HostAudio::TotalDuration() const {
  if (audio_.total_us < 0) return std::nullopt;
  return absl::Microseconds(audio_.total_us);
}

// A host that does not know the field tells no length of live audio, nor of some recordings.
bool HostAudio::IsLive() const {
  if (audio_.struct_size < offsetof(sfl_audio, flags) + sizeof audio_.flags) {
    return audio_.total_us < 0;
  }
  return (audio_.flags & SFL_AUDIO_LIVE) != 0;
}

void HostSink::OnSegment(TranscribedSegment segment) {
  const std::vector<sfl_word> words = AbiWords(segment.words);
  sfl_segment raw = {};
  raw.struct_size = sizeof raw;
  raw.flags = segment.is_partial ? uint32_t{SFL_SEGMENT_PARTIAL} : 0U;
  raw.start_ms = segment.start_ms;
  raw.end_ms = segment.end_ms;
  raw.text = View(segment.text);
  raw.avg_logprob = segment.avg_logprob;
  raw.no_speech_prob = segment.no_speech_prob;
  raw.compression_ratio = segment.compression_ratio;
  raw.temperature = segment.temperature;
  raw.words = words.data();
  raw.word_count = words.size();
  raw.word_size = sizeof(sfl_word);
  Message message;
  if (step_.emit == nullptr) {
    status_ = absl::UnimplementedError("the host takes no segments");
    return;
  }
  const sfl_status code = step_.emit(step_.user, &raw, message.error());
  if (code != SFL_OK && status_.ok()) status_ = StatusFromAbi(code, message.text());
}

bool HostTick::LaneStopped(size_t lane) {
  return tick_.lane_stopped != nullptr && tick_.lane_stopped(tick_.user, lane) != 0;
}

void HostTick::Emit(size_t lane, absl::Span<const Token> tokens) {
  if (tick_.emit == nullptr) return;  // They come again in the result.
  Message message;
  const sfl_status code =
      tick_.emit(tick_.user, lane, tokens.data(), tokens.size(), message.error());
  if (code != SFL_OK && status_.ok()) status_ = StatusFromAbi(code, message.text());
}

CancelReason PollHostCancel(void* step) noexcept {
  const auto* const host = static_cast<const sfl_step*>(step);
  return ReasonFromHost(host->cancelled(host->user));
}

CancelReason PollStateCancel(void* step) noexcept {
  const auto* const host = static_cast<const sfl_state_step*>(step);
  return ReasonFromHost(host->cancelled(host->user));
}

CancelReason PollTickCancel(void* tick) noexcept {
  const auto* const host = static_cast<const sfl_tick*>(tick);
  return ReasonFromHost(host->cancelled(host->user));
}

CancelReason PollCallCancel(void* call) noexcept {
  const auto* const host = static_cast<const sfl_call*>(call);
  return ReasonFromHost(host->cancelled(host->user));
}

EngineLog HostLogger(const sfl_host& host) {
  if (host.log == nullptr) return nullptr;
  return [user = host.user, log = host.log](EngineLogLevel level, absl::string_view line) {
    log(user, static_cast<int32_t>(level), line.data(), line.size());
  };
}

std::function<void(uint32_t permille)> HostLoading(const sfl_host& host) {
  if (!SFL_HAS(&host, loading) || host.loading == nullptr) return nullptr;
  return [user = host.user, loading = host.loading](uint32_t permille) { loading(user, permille); };
}

}  // namespace superfluid::sdk
