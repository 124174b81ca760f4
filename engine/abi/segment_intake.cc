#include "engine/abi/segment_intake.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/abi/sized_struct.h"
#include "engine/abi/text.h"

namespace superfluid {
namespace {

// Larger strides than this are taken for garbage; room for a struct to grow.
constexpr size_t kMaxWordSize = 4096;
// Of the first plug-ins of this version of the interface: these stay when the structs grow.
constexpr uint32_t kMinSegmentSize = 80;
constexpr size_t kMinWordSize = 40;
static_assert(sizeof(sfl_segment) >= kMinSegmentSize && sizeof(sfl_word) >= kMinWordSize);
constexpr float kMaxFloat = std::numeric_limits<float>::max();

// Moves values into their range and remembers whether it had to.
class Repair {
 public:
  int64_t Time(int64_t value, int64_t low, int64_t high) {
    return Changed(value, std::clamp(value, low, high));
  }
  float Real(float value, float low, float high) {
    return Changed(value, std::isfinite(value) ? std::clamp(value, low, high) : 0.0F);
  }
  std::string Text(absl::string_view raw, std::string valid) {
    needed_ = needed_ || raw != valid;
    return valid;
  }
  bool needed() const { return needed_; }

 private:
  template <typename T>
  T Changed(T before, T after) {
    needed_ = needed_ || before != after;
    return after;
  }

  bool needed_ = false;
};

absl::StatusOr<std::string> TakeText(sfl_string raw, size_t max_bytes, Repair& repair) {
  absl::StatusOr<std::string> text = CopyText(raw, max_bytes);
  if (!text.ok() || raw.size == 0) return text;
  return repair.Text(absl::string_view(raw.data, raw.size), *std::move(text));
}

absl::Status CheckWords(const sfl_segment& segment) {
  if (segment.word_count == 0) return absl::OkStatus();
  if (segment.words == nullptr) {
    return absl::InvalidArgumentError("a segment's words are NULL but have a count");
  }
  if (segment.word_count > SFL_MAX_WORDS) {
    return absl::InvalidArgumentError(
        absl::StrCat("a segment has ", segment.word_count, " words; the limit is ", SFL_MAX_WORDS));
  }
  if (segment.word_size < kMinWordSize || segment.word_size > kMaxWordSize) {
    return absl::InvalidArgumentError(absl::StrCat("a segment's word_size is ", segment.word_size));
  }
  return absl::OkStatus();
}

absl::Status TakeWords(const sfl_segment& raw, TranscribedSegment& segment, Repair& repair) {
  if (absl::Status status = CheckWords(raw); !status.ok()) return status;
  segment.words.reserve(raw.word_count);
  const auto* bytes = reinterpret_cast<const unsigned char*>(raw.words);
  int64_t floor_ms = segment.start_ms;
  for (size_t i = 0; i < raw.word_count; ++i) {
    sfl_word raw_word = {};
    std::memcpy(&raw_word, bytes + i * raw.word_size, std::min(raw.word_size, sizeof raw_word));
    absl::StatusOr<std::string> text = TakeText(raw_word.text, SFL_MAX_WORD_BYTES, repair);
    if (!text.ok()) return text.status();
    TranscribedWord word;
    word.start_ms = repair.Time(raw_word.start_ms, floor_ms, segment.end_ms);
    word.end_ms = repair.Time(raw_word.end_ms, word.start_ms, segment.end_ms);
    word.text = *std::move(text);
    word.probability = repair.Real(raw_word.probability, 0, 1);
    floor_ms = word.end_ms;
    segment.words.push_back(std::move(word));
  }
  return absl::OkStatus();
}

absl::StatusOr<sfl_segment> CopyRaw(const sfl_segment* segment) {
  if (segment == nullptr) return absl::InvalidArgumentError("a segment is NULL");
  // Copied byte by byte: a plug-in's pointer need not be aligned.
  uint32_t struct_size = 0;
  std::memcpy(&struct_size, segment, sizeof struct_size);
  if (struct_size < kMinSegmentSize) {
    return absl::InvalidArgumentError(absl::StrCat("a segment's struct_size is ", struct_size,
                                                   "; at least ", kMinSegmentSize, " are needed"));
  }
  return CopyIn(segment);
}

}  // namespace

absl::StatusOr<TranscribedSegment> SegmentIntake::Take(const sfl_segment* segment,
                                                       int64_t audio_ms) {
  const absl::StatusOr<sfl_segment> raw = CopyRaw(segment);
  if (!raw.ok()) return raw.status();
  Repair repair;
  absl::StatusOr<std::string> text = TakeText(raw->text, SFL_MAX_TEXT_BYTES, repair);
  if (!text.ok()) return text.status();
  const int64_t ceiling_ms = std::max(floor_ms_, audio_ms);
  TranscribedSegment taken;
  taken.start_ms = repair.Time(raw->start_ms, floor_ms_, ceiling_ms);
  taken.end_ms = repair.Time(raw->end_ms, taken.start_ms, ceiling_ms);
  taken.text = *std::move(text);
  taken.is_partial = (raw->flags & SFL_SEGMENT_PARTIAL) != 0;
  taken.avg_logprob = repair.Real(raw->avg_logprob, -kMaxFloat, kMaxFloat);
  taken.no_speech_prob = repair.Real(raw->no_speech_prob, 0, 1);
  taken.compression_ratio = repair.Real(raw->compression_ratio, 0, kMaxFloat);
  taken.temperature = repair.Real(raw->temperature, 0, kMaxFloat);
  if (absl::Status status = TakeWords(*raw, taken, repair); !status.ok()) return status;
  if (!taken.is_partial) floor_ms_ = taken.end_ms;
  if (repair.needed()) ++repaired_;
  return taken;
}

}  // namespace superfluid
