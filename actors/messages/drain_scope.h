#ifndef SUPERFLUID_ACTORS_MESSAGES_DRAIN_SCOPE_H_
#define SUPERFLUID_ACTORS_MESSAGES_DRAIN_SCOPE_H_

#include <cstdint>

namespace superfluid {

// What a drain cancels at once; the rest may finish until the drain's deadline. A later one cancels
// all that an earlier one does.
enum class DrainScope : uint8_t { kNothing, kTranscriptions, kEverything };

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_DRAIN_SCOPE_H_
