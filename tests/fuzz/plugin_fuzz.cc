// A plug-in whose every answer (status, number, pointer with a count, text) is drawn from the
// bytes, as far as its pointers point to something: the host survives it, and its user sees only
// what the interface of an engine promises.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/abi/plugin_engine.h"
#include "engine/abi/superfluid_engine.h"
#include "tests/engine/abi/engine_test_util.h"
#include "tests/fuzz/target.h"

struct sfl_engine {
  int unused = 0;
};
struct sfl_transcription {
  int unused = 0;
};

namespace superfluid::fuzz {
namespace {

constexpr int kMostSteps = 20;

// What the plug-in draws its answers from; all zeros once it is used up.
class Answers {
 public:
  void Reset(std::string_view bytes) {
    bytes_ = bytes;
    at_ = 0;
  }
  uint8_t Byte() { return at_ < bytes_.size() ? static_cast<uint8_t>(bytes_[at_++]) : 0; }
  uint64_t Number() {
    static constexpr std::array<uint64_t, 5> kOdd = {0, 1, UINT32_MAX, INT64_MAX, UINT64_MAX};
    const uint8_t choice = Byte();
    if (choice < kOdd.size()) return kOdd.at(choice);
    uint64_t number = 0;
    for (int i = 0; i < (choice & 7); ++i) number = number << 8 | Byte();
    return number;
  }
  // Mostly OK; any code otherwise.
  sfl_status Status(sfl_error* error) {
    const uint8_t choice = Byte();
    if (choice < 200) return SFL_OK;
    if (error != nullptr && error->message != nullptr && error->capacity > 0) {
      // A message without an end.
      std::memset(error->message, choice, error->capacity);
    }
    return static_cast<sfl_status>(Byte()) - 4;
  }
  // Bytes that stay where they are, of any content; or none at all, with a length.
  sfl_string Text() {
    const size_t size = std::min<size_t>(Byte(), bytes_.size() - std::min(at_, bytes_.size()));
    const char* const data = size == 0 && Byte() > 200 ? nullptr : bytes_.data() + at_;
    const bool lies = data == nullptr && Byte() > 128;
    at_ += size;
    return {.data = data, .size = lies ? size_t{9} : size};
  }
  float Float() {
    const auto bits = static_cast<uint32_t>(Number());
    float number = 0;
    std::memcpy(&number, &bits, sizeof(number));
    return number;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

// The audio of the job that was started last.
sfl_audio& Audio() {
  static sfl_audio audio;
  return audio;
}

Answers& Draw() {
  static auto& answers = *new Answers;
  return answers;
}

sfl_status Create(const sfl_config* /*config*/, const sfl_host* host, sfl_engine** engine,
                  sfl_error* error) {
  const sfl_status status = Draw().Status(error);
  const sfl_string text = Draw().Text();
  host->log(host->user, static_cast<int32_t>(Draw().Byte()) - 2, text.data,
            text.data == nullptr ? 0 : text.size);
  if (status == SFL_OK && Draw().Byte() < 250) *engine = new sfl_engine;
  return status;
}

void Destroy(sfl_engine* engine) { delete engine; }

template <size_t kSize>
void FillName(char (&name)[kSize]) {
  const sfl_string text = Draw().Text();
  if (text.data == nullptr) return;
  if (Draw().Byte() < 200) {
    std::memcpy(name, "fuzzed", 7);
  } else {
    std::memset(name, 'x', kSize);  // without an end
    std::memcpy(name, text.data, std::min(text.size, kSize));
  }
}

sfl_status Describe(sfl_engine* /*engine*/, sfl_engine_info* info, sfl_output* capabilities,
                    sfl_error* error) {
  info->max_transcriptions = static_cast<uint32_t>(Draw().Number());
  info->micro_step_us = static_cast<int64_t>(Draw().Number());
  FillName(info->name);
  FillName(info->version);
  const sfl_string text = Draw().Text();
  if (text.data != nullptr && text.size <= capabilities->capacity) {
    std::memcpy(capabilities->data, text.data, text.size);
  }
  capabilities->size = text.data == nullptr ? Draw().Number() : text.size;
  return Draw().Status(error);
}

sfl_status Memory(sfl_engine* /*engine*/, sfl_memory* memory, sfl_error* error) {
  memory->allocated_bytes = Draw().Number();
  memory->pool_blocks_used = Draw().Number();
  return Draw().Status(error);
}

sfl_status Start(sfl_engine* /*engine*/, const sfl_transcription_params* /*params*/,
                 const sfl_audio* audio, sfl_transcription** job, sfl_error* error) {
  Audio() = *audio;
  const sfl_status status = Draw().Status(error);
  if (status == SFL_OK && Draw().Byte() < 250) *job = new sfl_transcription;
  return status;
}

void Emit(const sfl_step* step) {
  std::array<sfl_word, 3> words{};
  for (sfl_word& word : words) {
    word = {.start_ms = static_cast<int64_t>(Draw().Number()),
            .end_ms = static_cast<int64_t>(Draw().Number()),
            .text = Draw().Text(),
            .probability = Draw().Float(),
            .reserved = 0};
  }
  sfl_segment segment{};
  segment.struct_size =
      Draw().Byte() < 230 ? sizeof(segment) : static_cast<uint32_t>(Draw().Number());
  segment.flags = Draw().Byte();
  segment.start_ms = static_cast<int64_t>(Draw().Number());
  segment.end_ms = static_cast<int64_t>(Draw().Number());
  segment.text = Draw().Text();
  segment.avg_logprob = Draw().Float();
  segment.temperature = Draw().Float();
  segment.words = Draw().Byte() < 200 ? words.data() : nullptr;
  segment.word_count = Draw().Byte() < 200 ? Draw().Byte() % (words.size() + 1) : 0;
  segment.word_size = sizeof(sfl_word);
  std::array<char, 64> text{};
  sfl_error error = {.message = text.data(), .capacity = text.size()};
  (void)step->emit(step->user, Draw().Byte() < 245 ? &segment : nullptr, &error);
}

sfl_status Step(sfl_engine* /*engine*/, sfl_transcription* /*job*/, const sfl_step* step,
                uint32_t* outcome, sfl_error* error) {
  for (uint8_t i = Draw().Byte() % 3; i > 0; --i) {
    std::array<float, 480> samples{};
    sfl_audio_block block{};
    const bool nowhere = Draw().Byte() > 240;
    (void)Audio().read(Audio().user, nowhere ? nullptr : samples.data(), samples.size(), &block,
                       error);
  }
  for (uint8_t i = Draw().Byte() % 4; i > 0; --i) Emit(step);
  *outcome = Draw().Byte() < 220 ? Draw().Byte() % 3 : static_cast<uint32_t>(Draw().Number());
  return Draw().Status(error);
}

sfl_status Progress(sfl_engine* /*engine*/, sfl_transcription* /*job*/, sfl_progress* progress,
                    sfl_error* error) {
  progress->audio_ms = static_cast<int64_t>(Draw().Number());
  progress->audio_total_ms = static_cast<int64_t>(Draw().Number());
  FillName(progress->language);
  return Draw().Status(error);
}

void Free(sfl_engine* /*engine*/, sfl_transcription* job) { delete job; }

const sfl_engine_vtable kTable = {
    .struct_size = sizeof(sfl_engine_vtable),
    .abi_version = SFL_ABI_VERSION,
    .create = Create,
    .destroy = Destroy,
    .describe = Describe,
    .memory = Memory,
    .transcription_start = Start,
    .transcription_step = Step,
    .transcription_progress = Progress,
    .transcription_free = Free,
};

class PromisedSegments : public SegmentSink {
 public:
  void OnSegment(TranscribedSegment segment) override {
    Require(segment.start_ms >= 0 && segment.end_ms >= segment.start_ms);
    Require(segment.avg_logprob == segment.avg_logprob);  // no NaN
    Require(segment.text.find('\0') == std::string::npos);
    if (segment.is_partial) return;
    Require(segment.start_ms >= last_end_ms_);
    last_end_ms_ = segment.end_ms;
  }

 private:
  int64_t last_end_ms_ = 0;
};

void Transcribe(Engine& engine) {
  auto job = engine.StartTranscription(
      {}, std::make_unique<testing::FakeAudio>(std::vector<float>(4800), 480));
  if (!job.ok()) return Require(!job.status().message().empty());
  PromisedSegments segments;
  const CancelToken token;
  for (int i = 0; i < kMostSteps; ++i) {
    const auto outcome = (*job)->Step({}, token, segments);
    (void)(*job)->Progress();
    if (!outcome.ok() || *outcome == StepOutcome::kDone) break;
  }
  const TranscriptionProgress progress = (*job)->Progress();
  Require(progress.audio_ms >= 0 && progress.audio_total_ms >= 0);
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  Draw().Reset(bytes);
  const auto engine = PluginEngine::Create(&kTable, EngineConfig());
  if (!engine.ok()) return Require(!engine.status().message().empty());
  Require(!(*engine)->info().name.empty() && (*engine)->info().name.size() <= 64);
  (void)(*engine)->Memory();
  Require((*engine)->CapabilitiesJson().starts_with('{'));
  Transcribe(**engine);
  (*engine)->Reset();
}

}  // namespace superfluid::fuzz
