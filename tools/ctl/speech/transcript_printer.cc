#include "tools/ctl/speech/transcript_printer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "protocol/messages/text_join.h"

namespace superfluid::ctl {

TranscriptPrinter::TranscriptPrinter(std::unique_ptr<TranscriptFormat> format, Output* out,
                                     Output* terminal, Options options)
    : format_(std::move(format)), out_(out), options_(options), line_(terminal) {}

absl::Status TranscriptPrinter::Begin() { return Write(format_->Begin()); }

absl::Status TranscriptPrinter::OnSegment(const linkw::TranscribeSegment& segment,
                                          absl::Duration since_start) {
  if (!first_segment_.has_value()) first_segment_ = since_start;
  progress_.audio_ms = segment.audio_ms;
  progress_.audio_total_ms = segment.audio_total_ms;
  progress_.hypothesis = segment.is_partial ? segment.text : "";
  if (!segment.is_partial) segments_.push_back(segment);

  const bool in_bar = segment.is_partial && options_.partials_in_bar && line_.visible();
  if (!in_bar) {
    if (absl::Status status = Write(format_->Segment(segment, since_start)); !status.ok()) {
      return status;
    }
  }
  Draw(since_start);
  return absl::OkStatus();
}

void TranscriptPrinter::OnIdle(absl::Duration since_start, int64_t audio_ms) {
  progress_.audio_ms = std::max(progress_.audio_ms, audio_ms);
  Draw(since_start);
}

void TranscriptPrinter::Draw(absl::Duration since_start) {
  progress_.elapsed = since_start;
  line_.Draw(progress_);
}

absl::Status TranscriptPrinter::OnEnd(const TranscriptionOutcome& outcome) {
  std::string text;
  const std::vector<linkw::TranscriptSegment>& all = outcome.result.segments;
  for (size_t i = segments_.size(); i < all.size(); ++i) {
    linkw::TranscribeSegment segment{all[i]};
    segment.index = static_cast<uint32_t>(i);
    segment.audio_ms = outcome.result.duration_ms;
    segment.audio_total_ms = static_cast<int64_t>(outcome.result.stats.audio_total_ms);
    text += format_->Segment(segment, outcome.figures.elapsed);
  }
  text += format_->End(outcome);
  return Write(text);
}

linkw::TranscribeResult TranscriptPrinter::ResultSoFar() const {
  linkw::TranscribeResult result;
  result.segments = segments_;
  result.duration_ms = progress_.audio_ms;
  for (const linkw::TranscriptSegment& segment : segments_) {
    linkw::AppendPiece(segment.text, result.text);
  }
  return result;
}

absl::Status TranscriptPrinter::Write(const std::string& text) {
  if (text.empty()) return absl::OkStatus();
  line_.Clear();
  return out_->Write(text);
}

}  // namespace superfluid::ctl
