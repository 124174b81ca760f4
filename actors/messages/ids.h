#ifndef SUPERFLUID_ACTORS_MESSAGES_IDS_H_
#define SUPERFLUID_ACTORS_MESSAGES_IDS_H_

#include <compare>
#include <cstdint>

namespace superfluid {

// One connection of a daemon or an observer, numbered by the Supervisor from 1.
enum class LinkId : uint64_t {};

// One request of one link: `seq` is the sequence number of the frame that asked.
struct RequestKey {
  LinkId link{};
  uint64_t seq = 0;

  // clang-tidy 14 takes the 0 of the generated comparison for a null pointer.
  friend auto operator<=>(const RequestKey&,
                          const RequestKey&) = default;  // NOLINT(modernize-use-nullptr)
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_IDS_H_
