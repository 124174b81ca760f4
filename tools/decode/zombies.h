#ifndef SUPERFLUID_TOOLS_DECODE_ZOMBIES_H_
#define SUPERFLUID_TOOLS_DECODE_ZOMBIES_H_

#include <sys/types.h>

namespace superfluid::decode {

// Remembers a child that was killed and whose end nobody waits for. Threads: any.
void LeaveZombie(pid_t pid);

// Collects the children that were left and have ended by now; waits for none. Threads: any.
void BuryZombies();

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_ZOMBIES_H_
