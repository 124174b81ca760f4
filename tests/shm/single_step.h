#ifndef SUPERFLUID_TESTS_SHM_SINGLE_STEP_H_
#define SUPERFLUID_TESTS_SHM_SINGLE_STEP_H_

#include <functional>

namespace superfluid::testing {

// Runs `body` over and over: the n-th time `action` comes in after its n-th machine instruction, as
// another thread might, until `body` is over before that. So every interleaving of one short action
// with a short body is tried, once each. `check` is called after each run.
//
// Returns how many there were. 0 where instructions are not stepped through: not x86-64, under
// ThreadSanitizer (its runtime cannot be interrupted anywhere) and AddressSanitizer (minutes
// instead of milliseconds, for nothing more). Body and check then ran once. Threads: one at a time
// in a process. `action` may use nothing but atomics and its own variables.
int InterruptAtEveryInstruction(const std::function<void()>& body,
                                const std::function<void()>& action,
                                const std::function<void()>& check);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_SHM_SINGLE_STEP_H_
