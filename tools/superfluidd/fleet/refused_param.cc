#include "tools/superfluidd/fleet/refused_param.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"

namespace superfluid::daemon {
namespace {

using Json = nlohmann::json;

// "en" of "en-US".
std::string LanguageCode(const std::string& tag) {
  return absl::AsciiStrToLower(tag.substr(0, tag.find_first_of("-_")));
}

bool Lists(const Json& languages, const std::string& language) {
  const std::string code = LanguageCode(language);
  return std::any_of(languages.begin(), languages.end(), [&code](const Json& listed) {
    return listed.is_string() && LanguageCode(listed.get<std::string>()) == code;
  });
}

}  // namespace

std::string RefusedParam(const SpeechRequest& request, const std::string& capabilities_json) {
  const Json capabilities = Json::parse(capabilities_json, nullptr, /*allow_exceptions=*/false);
  if (!capabilities.is_object()) return "";
  const auto speech = capabilities.find("transcribe");
  if (speech == capabilities.end() || !speech->is_object()) return "";
  const auto prompt = speech->find("prompt");
  if (!request.prompt.empty() && prompt != speech->end() && *prompt == false) return "prompt";
  const auto languages = speech->find("languages");
  const bool says = languages != speech->end() && languages->is_array();
  return says && !request.language.empty() && !Lists(*languages, request.language) ? "language"
                                                                                   : "";
}

}  // namespace superfluid::daemon
