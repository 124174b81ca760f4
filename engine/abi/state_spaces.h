#ifndef SUPERFLUID_ENGINE_ABI_STATE_SPACES_H_
#define SUPERFLUID_ENGINE_ABI_STATE_SPACES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/abi/guarded_value.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/state_job.h"

namespace superfluid {

// Digests have the same bytes on both sides.
Digest DigestFromAbi(const sfl_digest& digest);
sfl_digest DigestToAbi(const Digest& digest);

// The first `count` state spaces that a plug-in wrote to `list`. Internal, with the rule, if it
// wrote too many or past the end, or one of them breaks a rule of sfl_state_space. `call` is the
// call's name.
absl::StatusOr<std::vector<StateSpace>> TakeStateSpaces(absl::string_view call,
                                                        const GuardedList<sfl_state_space>& list,
                                                        size_t count);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_STATE_SPACES_H_
