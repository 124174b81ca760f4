#ifndef SUPERFLUID_ENGINE_POCKETSPHINX_OPTIONS_H_
#define SUPERFLUID_ENGINE_POCKETSPHINX_OPTIONS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/options/option_table.h"

namespace superfluid {

// What `--engine-option name=value` can set, with its range and default.
struct PocketsphinxOptions {
  int pool = 4;                // 1..64: transcriptions at once; each has a decoder, about 90 MB
  int warm = 1;                // 1..pool: decoders made before the engine is ready
  int pause_ms = 500;          // 100..2000: a silence of this length ends a segment
  int max_segment_ms = 16000;  // 3000..30000: a segment is cut here even without a pause
  int max_hmms = 3000;  // 500..30000: hypotheses kept per 10 ms; more is slower, seldom better
  std::string language = "en-US";  // of the model: what a client may ask for

  friend bool operator==(const PocketsphinxOptions&, const PocketsphinxOptions&) = default;
};

// All of them, with their ranges and what they are for.
const OptionTable<PocketsphinxOptions>& PocketsphinxOptionTable();

// Errors: InvalidArgument for a name that does not exist (the text lists those that do), a value
// that is no number or out of range, or a name given twice.
absl::StatusOr<PocketsphinxOptions> ParsePocketsphinxOptions(
    const std::vector<std::pair<std::string, std::string>>& options);

// Whether a model of language `model` (a BCP-47 tag) serves a client that asks for `wanted` (a tag
// or an English name; empty or "auto" for "whatever it is"): the primary languages must be equal,
// regions do not matter.
// Errors: InvalidArgument if `wanted` is no language tag, Unimplemented if it is another language.
absl::Status CheckLanguage(std::string_view wanted, std::string_view model);

// "en" of "en-US" and "English", in lower case.
std::string PrimaryLanguage(std::string_view tag);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_POCKETSPHINX_OPTIONS_H_
