#include "tools/ctl/generation/vocabulary.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/ctl/formats/json_text.h"

namespace superfluid::ctl {
namespace {

uint64_t NumberField(const Json& object, const char* name) {
  if (!object.is_object()) return 0;
  const auto field = object.find(name);
  if (field == object.end() || !field->is_number_unsigned()) return 0;
  return field->get<uint64_t>();
}

std::optional<bool> BoolField(const Json& object, const char* name) {
  if (!object.is_object()) return std::nullopt;
  const auto field = object.find(name);
  if (field == object.end() || !field->is_boolean()) return std::nullopt;
  return field->get<bool>();
}

Failure Refuse(const std::string& what) {
  return {.code = ExitCode::kFailed,
          .what = what,
          .advice = "'superfluidctl info' shows what this engine can do"};
}

}  // namespace

Vocabulary VocabularyOf(const linkw::HelloAck& hello) {
  const Json capabilities = JsonOrText(hello.capabilities_json);
  return {.size = NumberField(capabilities, "vocab_size"),
          .context_tokens = NumberField(capabilities, "context_tokens"),
          .byte_tokens = BoolField(capabilities, "byte_tokens")};
}

std::optional<Failure> CheckPromptFor(const linkw::HelloAck& hello,
                                      absl::Span<const linkw::Token> tokens, bool is_text) {
  if (hello.limits.max_lanes == 0) return Refuse("this engine does not generate tokens");
  const Vocabulary vocabulary = VocabularyOf(hello);
  if (is_text && !vocabulary.HasByteTokens()) {
    return Refuse(absl::StrCat(
        "this engine's vocabulary of ",
        vocabulary.size == 0 ? "unknown size" : absl::StrCat(vocabulary.size, " tokens"),
        " is not bytes, so text cannot be sent to it: give token ids"));
  }
  const auto outside = std::find_if(tokens.begin(), tokens.end(),
                                    [&](linkw::Token t) { return t >= vocabulary.size; });
  if (vocabulary.size != 0 && outside != tokens.end()) {
    return Refuse(absl::StrCat("token ", *outside, " is outside this engine's vocabulary of ",
                               vocabulary.size, " tokens"));
  }
  if (vocabulary.context_tokens != 0 && tokens.size() > vocabulary.context_tokens) {
    return Refuse(absl::StrCat("a prompt of ", tokens.size(),
                               " tokens is longer than this engine's "
                               "context of ",
                               vocabulary.context_tokens));
  }
  return std::nullopt;
}

}  // namespace superfluid::ctl
