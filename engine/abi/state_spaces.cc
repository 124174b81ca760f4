#include "engine/abi/state_spaces.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/abi/plugin_call.h"
#include "engine/abi/text.h"

namespace superfluid {
namespace {

StateSpace FromAbi(const sfl_state_space& raw) {
  StateSpace space;
  space.id = SpaceId{raw.id};
  space.name = ValidUtf8(TextOfArray(raw.name, sizeof raw.name));
  space.bytes_per_token = raw.bytes_per_token;
  space.boundary_tokens = raw.boundary_tokens;
  space.encodings = raw.encodings;
  space.compat_key = DigestFromAbi(raw.compat_key);
  return space;
}

}  // namespace

Digest DigestFromAbi(const sfl_digest& digest) {
  Digest copy{};
  std::copy(std::begin(digest.bytes), std::end(digest.bytes), copy.begin());
  return copy;
}

sfl_digest DigestToAbi(const Digest& digest) {
  sfl_digest copy = {};
  std::copy(digest.begin(), digest.end(), std::begin(copy.bytes));
  return copy;
}

absl::StatusOr<std::vector<StateSpace>> TakeStateSpaces(absl::string_view call,
                                                        const GuardedList<sfl_state_space>& list,
                                                        size_t count) {
  if (!list.intact()) return WrotePastTheEnd(call);
  if (count > list.capacity()) {
    return BrokenRule(call, "has ", count, " state spaces; the limit is ", list.capacity());
  }
  std::vector<StateSpace> spaces;
  std::set<uint32_t> ids;
  for (const sfl_state_space& raw : list.Take(count)) {
    if (raw.boundary_tokens == 0 || (raw.encodings & 1U) == 0) {
      return BrokenRule(call, "describes state space ", raw.id,
                        " without a boundary or without the raw encoding");
    }
    if (!ids.insert(raw.id).second) {
      return BrokenRule(call, "has two state spaces with the id ", raw.id);
    }
    spaces.push_back(FromAbi(raw));
  }
  return spaces;
}

}  // namespace superfluid
