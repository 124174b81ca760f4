#ifndef SUPERFLUID_TESTS_SIMULATION_FAULT_ACTIONS_H_
#define SUPERFLUID_TESTS_SIMULATION_FAULT_ACTIONS_H_

#include "tests/simulation/actions.h"
#include "tests/simulation/dice.h"
#include "tests/simulation/peer.h"
#include "tests/simulation/plan.h"

namespace superfluid::simulation {

// Carries out an action that takes something from the whole worker: time, an actor, threads, what
// the kernel gives. Returns false, and does nothing, for others.
bool CarryOutFault(ActionKind kind, Dice& dice, Scene& scene);

// Ends what faults are under way, so that everything can finish.
void EndFaults(Scene& scene);

// Has something happen to the link while the engine is inside one of its next steps.
void HappenInsideStep(Dice& dice, Scene& scene, Peer& peer);

// Sends thousands of small requests and reads no answer.
void Flood(Dice& dice, Peer& peer);

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_FAULT_ACTIONS_H_
