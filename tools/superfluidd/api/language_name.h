#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_LANGUAGE_NAME_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_LANGUAGE_NAME_H_

#include <string>
#include <string_view>

namespace superfluid::daemon {

// Returns the name of a language as OpenAI's API writes it, "english" for "en" and "en-US"; a tag
// that is not known as it is.
std::string LanguageName(std::string_view tag);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_LANGUAGE_NAME_H_
