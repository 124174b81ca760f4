#include "engine/sim/sim_segments.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/sim/sim_words.h"

namespace superfluid {
namespace {

// A byte that no UTF-8 text has.
constexpr char kBadByte = '\xFF';

std::vector<std::string> WordsOf(const SimOptions& options, const SimStretch& stretch) {
  if (options.script.empty()) return WordsFromSeed(stretch.seed, options.words);
  const size_t line = static_cast<size_t>(stretch.index) % options.script.size();
  return absl::StrSplit(options.script[line], ' ', absl::SkipWhitespace());
}

std::vector<TranscribedWord> TimedWords(const std::vector<std::string>& texts,
                                        const SimStretch& stretch) {
  std::vector<TranscribedWord> words;
  const auto count = static_cast<int64_t>(texts.size());
  const int64_t length_ms = stretch.end_ms - stretch.start_ms;
  for (int64_t i = 0; i < count; ++i) {
    TranscribedWord word;
    word.start_ms = stretch.start_ms + length_ms * i / count;
    word.end_ms = stretch.start_ms + length_ms * (i + 1) / count;
    word.text = texts[static_cast<size_t>(i)];
    word.probability = static_cast<float>((stretch.seed >> (i % 56)) & 127U) / 127.0F;
    words.push_back(std::move(word));
  }
  return words;
}

// Mirrors the segment at zero: later ones come to lie before earlier ones.
void BreakTimes(TranscribedSegment& segment) {
  const int64_t start_ms = segment.start_ms;
  segment.start_ms = -segment.end_ms;
  segment.end_ms = -start_ms - 1;
}

}  // namespace

TranscribedSegment MakeSimSegment(const SimOptions& options, const SimStretch& stretch,
                                  bool with_words, bool partial) {
  std::vector<std::string> texts = WordsOf(options, stretch);
  if (options.faults.invalid_utf8) {
    for (std::string& text : texts) text += kBadByte;
  }
  TranscribedSegment segment;
  segment.start_ms = stretch.start_ms;
  segment.end_ms = stretch.end_ms;
  segment.text = absl::StrJoin(texts, " ");
  segment.is_partial = partial;
  segment.avg_logprob = -static_cast<float>(stretch.seed & 255U) / 256.0F;
  segment.no_speech_prob = static_cast<float>((stretch.seed >> 8U) & 255U) / 2560.0F;
  segment.compression_ratio = 1.0F;
  if (with_words) segment.words = TimedWords(texts, stretch);
  if (options.faults.backwards_times) BreakTimes(segment);
  return segment;
}

}  // namespace superfluid
