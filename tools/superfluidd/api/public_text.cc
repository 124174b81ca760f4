#include "tools/superfluidd/api/public_text.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace superfluid::daemon {
namespace {

// "transcription_start: ", with which an engine's host begins what a call of the engine said.
void DropCall(absl::string_view& text) {
  if (!absl::StartsWith(text, "transcription_")) return;
  const size_t end = text.find(": ");
  if (end != absl::string_view::npos && text.substr(0, end).find(' ') == absl::string_view::npos) {
    text.remove_prefix(end + 2);
  }
}

struct Subject {
  absl::string_view word;
  absl::string_view param;
};

// What a refusal speaks of. The first that is mentioned counts.
constexpr Subject kSubjects[] = {
    {"the language", "language"},
    {"prompt", "prompt"},
    {"the recording", "file"},
    {"audio", "file"},
};

}  // namespace

PublicText InWordsOfTheApi(std::string_view text) {
  absl::string_view left(text.data(), text.size());
  DropCall(left);
  if (absl::ConsumePrefix(&left, "\"the buffer\": ")) {
    return {.message = absl::StrCat("the file cannot be read as a recording: ", left),
            .param = "file"};
  }
  const auto* const about =
      std::find_if(std::begin(kSubjects), std::end(kSubjects),
                   [&](const Subject& subject) { return absl::StrContains(left, subject.word); });
  return {.message = std::string(left),
          .param = std::string(about == std::end(kSubjects) ? "" : about->param)};
}

}  // namespace superfluid::daemon
