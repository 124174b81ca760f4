#include "tests/simulation/fault_actions.h"

#include <cstdint>
#include <vector>

#include "tests/simulation/kernel.h"

namespace superfluid::simulation {
namespace {

constexpr uint32_t kFlood = 3000;
constexpr uint32_t kMostSteps = 6;
constexpr uint32_t kStopSlots = 4;  // work_actions.cc: those that lanes name

void Pause(Dice& dice, Scene& scene) {
  const uint32_t ms = dice.Between(1, 120'000);
  for (Peer& peer : scene.peers) peer.oracle().OnPaused(int64_t{ms} * 1'000'000);
  scene.world.Pause(absl::Milliseconds(ms));
}

void KillAnActor(Scene& scene) {
  if (!scene.world.KillAnActor()) return;
  ++scene.deaths;
  scene.oracle.AllowEnds(true);
}

void RefuseKernelCalls(Dice& dice) {
  KernelFaults faults;
  switch (dice.Below(4)) {
    case 0:
      faults.no_descriptors = true;
      break;
    case 1:
      faults.bad_descriptor = dice.Between(1, 4);
      break;
    case 2:
      faults.bad_mapping = dice.Between(1, 4);
      break;
    default:  // there is enough again
      break;
  }
  SetKernelFaults(faults);
}

}  // namespace

bool CarryOutFault(ActionKind kind, Dice& dice, Scene& scene) {
  World& world = scene.world;
  switch (kind) {
    case ActionKind::kPause:
      Pause(dice, scene);
      return true;
    case ActionKind::kActorDies:
      KillAnActor(scene);
      return true;
    case ActionKind::kKernelRefuses:
      RefuseKernelCalls(dice);
      return true;
    case ActionKind::kNoThread:
      world.SetReaders(!world.readers_refuse(), world.readers_hang());
      return true;
    case ActionKind::kHang:
      world.SetReaders(world.readers_refuse(), !world.readers_hang());
      return true;
    default:
      return false;
  }
}

void EndFaults(Scene& scene) {
  scene.world.SetReaders(/*refuse=*/false, /*hang=*/false);
  scene.world.ForgetInsideSteps();
  SetKernelFaults({});
}

void HappenInsideStep(Dice& dice, Scene& scene, Peer& peer) {
  World& world = scene.world;
  const uint32_t first = dice.Between(1, kMostSteps);
  const uint32_t slot = dice.Below(kStopSlots);
  // Peers stay where they are until all is over, and what would happen then is forgotten.
  const auto set_stop = [&peer, slot](bool stop) {
    if (peer.control() != nullptr) peer.control()->SetLaneStop(slot, stop).IgnoreError();
  };
  switch (dice.Below(6)) {
    case 0:
    case 1:  // a bit that is taken back before the tick has ended
      world.InsideStep(first, [set_stop] { set_stop(true); });
      world.InsideStep(first + 1 + dice.Below(3), [set_stop] { set_stop(false); });
      return;
    case 2:
      world.InsideStep(first, [&peer] {
        if (peer.usable()) peer.Send(linkw::TranscribeCancel{0});
      });
      return;
    case 3:
      world.InsideStep(first, [&peer] {
        const std::vector<uint64_t> open = peer.oracle().OpenTranscriptions();
        for (uint32_t word = 0; word < kStopSlots && !open.empty(); ++word) {
          peer.WriteStopWord(word, open.front());
        }
      });
      return;
    case 4:
      world.InsideStep(first, [&peer] {
        if (peer.usable()) peer.Send(linkw::Ping{});
      });
      return;
    default:
      world.InsideStep(first, [&peer] { peer.HangUp(); });
  }
}

void Flood(Dice& dice, Peer& peer) {
  if (peer.reading()) peer.SetReading(false);
  const bool pings = dice.OneIn(2);
  for (uint32_t i = 0; i < kFlood; ++i) {
    if (pings) {
      peer.Send(linkw::Ping{});
    } else {
      peer.Send(linkw::StateSyncRequest{linkw::Capabilities{}});
    }
  }
}

}  // namespace superfluid::simulation
