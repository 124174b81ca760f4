#include "engine/whisper/segment_builder.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace superfluid {
namespace {

constexpr int64_t kUnitMs = 10;         // of the library's times
constexpr double kLeastLogprob = -100;  // keeps means finite
constexpr std::string_view kWithoutSpaces[] = {"zh", "ja", "th", "lo", "my", "yue"};

std::string Trimmed(const std::string& text) {
  return std::string(absl::StripAsciiWhitespace(absl::string_view(text)));
}

float MeanLogprob(const RawSegment& raw) {
  double sum = 0;
  int count = 0;
  for (const RawToken& token : raw.tokens) {
    if (!token.is_text) continue;
    sum += std::isnan(token.logprob) ? kLeastLogprob
                                     : std::clamp<double>(token.logprob, kLeastLogprob, 0);
    ++count;
  }
  return count == 0 ? 0 : static_cast<float>(sum / count);
}

float Probability(float value) { return std::isnan(value) ? 0 : std::clamp(value, 0.0F, 1.0F); }

}  // namespace

float CompressionRatio(std::string_view text) {
  if (text.empty()) return 0;
  uLongf deflated = compressBound(text.size());
  std::string buffer(deflated, '\0');
  const int error = compress(reinterpret_cast<Bytef*>(buffer.data()), &deflated,
                             reinterpret_cast<const Bytef*>(text.data()), text.size());
  if (error != Z_OK || deflated == 0) return 0;
  return static_cast<float>(static_cast<double>(text.size()) / static_cast<double>(deflated));
}

std::optional<TranscribedSegment> SegmentBuilder::Build(const RawSegment& raw, int64_t window_ms,
                                                        int64_t audio_end_ms,
                                                        std::string_view language) {
  const std::vector<Piece> pieces = Pieces(raw, language);
  std::string text;
  for (const Piece& piece : pieces) text += piece.text;
  TranscribedSegment segment;
  segment.text = Trimmed(text);
  if (segment.text.empty()) return std::nullopt;
  const int64_t latest = std::max(audio_end_ms, last_end_ms_);
  segment.start_ms = std::clamp(window_ms + raw.start * kUnitMs, last_end_ms_, latest);
  segment.end_ms = std::clamp(window_ms + raw.end * kUnitMs, segment.start_ms, latest);
  segment.avg_logprob = MeanLogprob(raw);
  segment.no_speech_prob = Probability(raw.no_speech_prob);
  segment.compression_ratio = CompressionRatio(segment.text);
  segment.temperature = raw.temperature;
  if (with_words_) segment.words = Words(pieces, window_ms, segment);
  last_end_ms_ = segment.end_ms;
  return segment;
}

std::vector<SegmentBuilder::Piece> SegmentBuilder::Pieces(const RawSegment& raw,
                                                          std::string_view language) {
  const bool has_spaces = std::find(std::begin(kWithoutSpaces), std::end(kWithoutSpaces),
                                    language) == std::end(kWithoutSpaces);
  std::vector<Piece> pieces;
  pieces.reserve(raw.tokens.size());
  for (const RawToken& token : raw.tokens) {
    if (!token.is_text) continue;
    Piece piece;
    piece.token = &token;
    piece.begins_word = token.bytes.starts_with(' ') || (!has_spaces && carry_.empty());
    piece.text = carry_.Add(token.bytes);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::vector<TranscribedWord> SegmentBuilder::Words(const std::vector<Piece>& pieces,
                                                   int64_t window_ms,
                                                   const TranscribedSegment& segment) {
  std::vector<TranscribedWord> words;
  int64_t earliest = segment.start_ms;
  for (auto piece = pieces.begin(); piece != pieces.end();) {
    const auto first = piece;
    TranscribedWord word;
    double probability = 0;
    do {
      word.text += piece->text;
      probability += Probability(piece->token->probability);
      ++piece;
    } while (piece != pieces.end() && !piece->begins_word);
    word.text = Trimmed(word.text);
    if (word.text.empty()) continue;
    word.probability =
        static_cast<float>(probability / static_cast<double>(std::distance(first, piece)));
    word.start_ms = std::clamp(window_ms + first->token->start * kUnitMs, earliest, segment.end_ms);
    word.end_ms = std::clamp(window_ms + std::prev(piece)->token->end * kUnitMs, word.start_ms,
                             segment.end_ms);
    earliest = word.end_ms;
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace superfluid
