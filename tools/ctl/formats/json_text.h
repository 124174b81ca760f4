#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_JSON_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/time/time.h"

// JSON as superfluidctl writes it: keys in the order in which they were put in.
namespace superfluid::ctl {

using Json = nlohmann::ordered_json;

// With a line break at the end. Bytes that are not UTF-8 become U+FFFD.
std::string JsonDocument(const Json& json);  // indented
std::string JsonLine(const Json& json);      // on one line

// A measured time in ms, with microseconds as its last digits.
double JsonMs(absl::Duration duration);

// A float without the digits that it does not have: 0.9f is 0.9, not 0.89999997615814209.
double JsonFloat(float value);

// `text` parsed; as a string if it is not JSON, or if it is nested deeper than anything sensible.
Json JsonOrText(const std::string& text);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_JSON_TEXT_H_
