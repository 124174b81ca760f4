#include "tools/ctl/formats/vtt_format.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "protocol/messages/text_join.h"
#include "tools/ctl/formats/cue_text.h"
#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {
namespace {

// Also keeps "-->" out of the text, which would begin another cue.
std::string Escape(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

// Takes the word off the text where it comes next; returns what stands before it there, or what
// belongs there if the word comes otherwise.
std::string_view TakeGap(std::string_view shown, std::string_view word, std::string_view& text) {
  const size_t blanks = std::min(text.find_first_not_of(' '), text.size());
  if (text.substr(blanks, word.size()) != word) return linkw::Separator(shown, word);
  text.remove_prefix(blanks + word.size());
  return blanks > 0 && !shown.empty() ? " " : "";
}

// The words of a cue, each behind its start. The format wants the marks inside the cue's times and
// increasing, so one that is not is left out.
std::string MarkedWords(const linkw::TranscriptSegment& segment, const CueTimes& times) {
  const std::string whole = OneLine(segment.text);
  std::string_view rest = whole;
  std::string last;
  std::string text;
  int64_t last_ms = times.start_ms;
  for (const linkw::TranscriptWord& word : segment.words) {
    const std::string shown = OneLine(word.text);
    if (shown.empty()) continue;
    text += TakeGap(last, shown, rest);
    last = shown;
    if (word.start_ms > last_ms && word.start_ms < times.end_ms) {
      absl::StrAppend(&text, "<", TimestampText(word.start_ms), ">");
      last_ms = word.start_ms;
    }
    text += Escape(shown);
  }
  return text;
}

}  // namespace

std::string VttFormat::Begin() { return "WEBVTT\n\n"; }

std::string VttFormat::Segment(const linkw::TranscribeSegment& segment, absl::Duration) {
  if (segment.is_partial) return "";
  const CueTimes times = CueTimesOf(segment);
  std::string text = words_ ? MarkedWords(segment, times) : "";
  if (text.empty()) text = Escape(CueText(segment.text));
  if (text.empty()) return "";
  return absl::StrCat(TimestampText(times.start_ms), " --> ", TimestampText(times.end_ms), "\n",
                      text, "\n\n");
}

std::string VttFormat::End(const TranscriptionOutcome&) { return ""; }

}  // namespace superfluid::ctl
