#ifndef SUPERFLUID_ENGINE_POCKETSPHINX_MODEL_FILES_H_
#define SUPERFLUID_ENGINE_POCKETSPHINX_MODEL_FILES_H_

#include <string>

#include "absl/status/statusor.h"

namespace superfluid {

// The three parts of a pocketsphinx model.
struct ModelFiles {
  std::string name;            // of the folder, for people: "en-us"
  std::string acoustic_model;  // a folder that holds mdef, means, variances, ...
  std::string language_model;  // *.lm.bin, *.lm.dmp or *.lm
  std::string dictionary;      // *.dict or *.dic
};

// Where the distribution puts its US English model.
inline constexpr char kDefaultModelFolder[] = "/usr/share/pocketsphinx/model/en-us";

// Finds the parts in `folder` (empty: kDefaultModelFolder) and looks at the beginning of each,
// because the library ends the process on some files that are not what they should be. Where there
// are several language models or dictionaries, the one whose name begins with the folder's wins.
//
// Errors: NotFound for a folder or a part that does not exist; InvalidArgument for a part that is
// ambiguous, empty or of another kind.
absl::StatusOr<ModelFiles> FindModelFiles(const std::string& folder);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_POCKETSPHINX_MODEL_FILES_H_
