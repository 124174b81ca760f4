#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_SPEECH_ANSWER_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_SPEECH_ANSWER_H_

#include <string>
#include <string_view>

#include "protocol/messages/messages.h"
#include "tools/superfluidd/api/api_error.h"
#include "tools/superfluidd/api/speech_form.h"

// Transcripts in the forms of OpenAI's API. Pure functions.
namespace superfluid::daemon {

// Returns the whole answer in the form that was asked for.
HttpReply SpeechAnswer(const SpeechForm& form, const linkw::TranscribeResult& result);

// The text of a stream: each segment becomes a delta, and the deltas joined are the text.
class DeltaText {
 public:
  // Returns what the segment adds; empty if nothing.
  std::string Add(std::string_view segment_text);
  // Returns what is still missing from `whole`, the final text; empty too if the two do not agree,
  // and then what was told stands.
  std::string Rest(std::string_view whole);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Returns "data: {...}\n\n".
std::string ServerSentEvent(const Json& json);

Json DeltaEvent(const std::string& delta, const SpeechForm& form,
                const linkw::TranscriptSegment* segment);
Json DoneEvent(const std::string& text, const SpeechForm& form,
               const linkw::TranscribeResult& result);

// Returns the log-probability of each word, as [{token, bytes, logprob}].
Json LogprobsJson(const std::vector<linkw::TranscriptWord>& words);

// Returns {"type":"duration","seconds":N}.
Json DurationUsage(const linkw::TranscribeResult& result);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_SPEECH_ANSWER_H_
