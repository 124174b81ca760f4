// Plays seeded sessions of many peers with a worker, all in one thread and in virtual time.
//
//   simulation [--seeds=N] [--first=N] [--jobs=N]   plays N seeds (10000), from the first (1) on
//   simulation --seed=N [--trace] [--shrink]        plays one; with its trace; finds a shorter one
//
// Exit status: 0 all sessions kept the contract; 1 one did not; 2 wrong usage.

#include "tests/simulation/runner.h"

int main(int argc, char** argv) { return superfluid::simulation::RunMain(argc, argv); }
