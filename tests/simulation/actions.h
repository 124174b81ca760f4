#ifndef SUPERFLUID_TESTS_SIMULATION_ACTIONS_H_
#define SUPERFLUID_TESTS_SIMULATION_ACTIONS_H_

#include <cstddef>
#include <deque>

#include "tests/simulation/oracle.h"
#include "tests/simulation/peer.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/world.h"

namespace superfluid::simulation {

// Everybody who takes part.
struct Scene {
  World& world;
  Oracle& oracle;
  Peer::Trace trace;
  size_t deaths = 0;       // of actors
  bool shut_down = false;  // a peer asked for the worker's end
  std::deque<Peer> peers;  // those whose links are over, too
};

// Carries out one action; whatever it concerns (links, requests, buffers) is chosen by its draw
// among what there is. An action that finds nothing to concern does nothing.
void CarryOut(const Action& action, Scene& scene);

// Connects a driver and sends its HELLO, its rings and its control segment. `capacity_bytes`: what
// its stream holds in each direction.
Peer& ConnectDriver(Scene& scene, bool with_rings, size_t capacity_bytes = size_t{1} << 20);

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_ACTIONS_H_
