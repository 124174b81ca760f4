#ifndef SUPERFLUID_TESTS_SIMULATION_WORK_ACTIONS_H_
#define SUPERFLUID_TESTS_SIMULATION_WORK_ACTIONS_H_

#include <cstdint>
#include <vector>

#include "protocol/messages/messages.h"
#include "tests/simulation/dice.h"
#include "tests/simulation/peer.h"
#include "tests/simulation/plan.h"

namespace superfluid::simulation {

inline constexpr uint64_t kBuffers = 6;       // the ids that peers use, from 1
inline constexpr uint64_t kFirstBuffers = 2;  // those that a driver has from the start
inline constexpr uint64_t kBufferBytes = 16384;

// Carries out an action that asks the engine for something or stops it; others do nothing here.
void CarryOutWork(ActionKind kind, Dice& dice, Peer& peer);

// Draws a buffer's id: mostly one that may be known.
linkw::BufId DrawBuffer(Dice& dice);
// Returns a lane of a new sequence that draws a few tokens.
linkw::Lane PlainLane(Peer& peer, uint64_t tag);
void SendTick(Peer& peer, std::vector<linkw::Lane> lanes, uint64_t deadline_us = 0,
              uint32_t flags = 0);
// Sends a whole live transcription; returns its seq.
uint64_t SendSpeech(Peer& peer);

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_WORK_ACTIONS_H_
