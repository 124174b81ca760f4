#ifndef SUPERFLUID_ENGINE_SAMPLING_JSON_DEPTH_H_
#define SUPERFLUID_ENGINE_SAMPLING_JSON_DEPTH_H_

#include <algorithm>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace superfluid {

// How deep brackets are nested outside of strings: what parsers and compilers of a schema will
// recurse. Any bytes may come. Threads: any.
inline size_t JsonDepth(absl::string_view json) {
  size_t depth = 0;
  size_t deepest = 0;
  bool text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (text && c == '\\') ++i;
    if (c == '"') text = !text;
    if (text) continue;
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if ((c == '}' || c == ']') && depth > 0) --depth;
  }
  return deepest;
}

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_JSON_DEPTH_H_
