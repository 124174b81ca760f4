#ifndef SUPERFLUID_ACTORS_RUNTIME_THREAD_ROOM_H_
#define SUPERFLUID_ACTORS_RUNTIME_THREAD_ROOM_H_

#include <cstddef>
#include <functional>

namespace superfluid {

// Returns whether the process may start so many more threads.
using ThreadRoom = std::function<bool(size_t threads)>;

// Starts so many threads, ends them and returns whether all could be started: limits lie in too
// many places (cgroups, users, address space) to be read. Returns when the system counts them no
// more, so that the caller's own threads find the room. Threads: any.
bool HasThreadRoom(size_t threads);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_THREAD_ROOM_H_
