#include "tests/simulation/actions.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "protocol/frames/frame.h"
#include "protocol/messages/message_type.h"
#include "tests/simulation/dice.h"
#include "tests/simulation/fault_actions.h"
#include "tests/simulation/work_actions.h"

namespace superfluid::simulation {
namespace {

constexpr size_t kMostPeers = 24;
// What a link's stream holds in each direction.
constexpr size_t kNarrow = size_t{4} << 10;
constexpr size_t kWide = size_t{1} << 20;

void AttachBuffer(Dice& dice, Peer& peer) {
  static constexpr std::array kCopies = {1, 1, 1, 1, 1, 0, 0, 2};
  if (dice.OneIn(4)) return peer.SendLateFd();
  peer.AttachBuffer(1 + dice.Below(kBuffers), kBufferBytes, dice.Pick(kCopies));
}

void LooseFd(Dice& dice, Peer& peer) {
  const Segment segment = Segment::Create(64, "loose").value();
  for (uint32_t i = dice.Between(1, 20); i > 0; --i) {
    peer.SendFd(1000 + i, segment.DuplicateFd()->get());
  }
}

void OddMessage(Dice& dice, Peer& peer) {
  switch (dice.Below(4)) {
    case 0:
      return peer.SendOdd(0x0fff, "unknown and required");
    case 1:
      return peer.SendOdd(0x8fff, "unknown and droppable");
    case 2:
      return peer.SendOdd(static_cast<uint16_t>(linkw::MessageType::kPong), "");
    default:
      return peer.SendOdd(static_cast<uint16_t>(linkw::MessageType::kStateSyncRequest), "");
  }
}

void Rubbish(Dice& dice, Peer& peer) {
  if (peer.oracle().broke()) return;
  switch (dice.Below(3)) {
    case 0:
      return peer.SendRubbish(std::string(100, 'x'), "no magic");
    case 1:
      return peer.SendRubbish(linkw::EncodeFrame({.type = 0x0080, .seq = 1}, ""), "a seq again");
    default:
      return peer.SendRubbish(
          linkw::EncodeFrame({.proto_version = 77, .type = 0x0080, .seq = 1}, ""), "a version");
  }
}

void Drain(Dice& dice, Scene& scene, Peer& peer) {
  linkw::DrainRequest drain{.cancel_transcriptions = dice.OneIn(2),
                            .deadline_ms = dice.OneIn(3) ? 0 : dice.Below(400)};
  if (dice.OneIn(12)) {
    drain.shut_down = true;
    scene.shut_down = true;
    scene.oracle.AllowEnds(true);
  }
  // Without a deadline it waits for live audio that may never come: the session's end sends it.
  peer.Send(drain);
}

void ReadOrNot(Dice& dice, Peer& peer) {
  if (peer.reading()) return peer.SetReading(false);
  if (dice.OneIn(2)) return peer.Read(dice.Between(1, 500));
  peer.SetReading(true);
}

Peer& AddPeer(Scene& scene, bool driver, bool with_descriptors, size_t capacity_bytes) {
  const int number = static_cast<int>(scene.peers.size()) + 1;
  return scene.peers.emplace_back(number, driver,
                                  scene.world.Connect(with_descriptors, capacity_bytes),
                                  capacity_bytes, scene.oracle, scene.world, scene.trace);
}

void ConnectOddly(Dice& dice, Scene& scene) {
  Peer& peer = AddPeer(scene, false, false, size_t{64} << 10);
  switch (dice.Below(4)) {
    case 0:  // says nothing
      return;
    case 1:
      return peer.SendRubbish("SFLW rubbish that is no frame at all, of any kind", "no HELLO");
    case 2:
      peer.SplitNextFrame(dice.Between(1, 40));
      peer.Send(linkw::Hello{.client_name = "half", .role = linkw::Role::kObserver});
      peer.oracle().OnHelloCut();
      return;
    default:
      peer.Send(linkw::Hello{.client_name = "twice", .role = linkw::Role::kObserver});
      peer.oracle().OnBroke("a second HELLO");
      peer.Send(linkw::Hello{.client_name = "twice", .role = linkw::Role::kObserver});
  }
}

// Returns a link that is in use, if there is one; mostly the newest driver's.
Peer* DrawPeer(Dice& dice, Scene& scene) {
  std::vector<Peer*> usable;
  Peer* driver = nullptr;
  for (Peer& peer : scene.peers) {
    if (!peer.usable()) continue;
    usable.push_back(&peer);
    if (peer.oracle().driver()) driver = &peer;
  }
  if (driver != nullptr && !dice.OneIn(12)) return driver;
  return usable.empty() ? nullptr : dice.Pick(usable);
}

void Advance(Dice& dice, Scene& scene) {
  static constexpr std::array kMost = {5u, 30u, 300u, 300u, 2000u, 7000u};
  scene.world.Advance(absl::Milliseconds(dice.Between(1, dice.Pick(kMost))));
}

bool Connects(const Action& action, Dice& dice, Scene& scene) {
  switch (action.kind) {
    case ActionKind::kConnectDriver:
      if (scene.peers.size() < kMostPeers) {
        ConnectDriver(scene, !dice.OneIn(8), dice.OneIn(4) ? kNarrow : kWide);
      }
      return true;
    case ActionKind::kConnectObserver:
      if (scene.peers.size() < kMostPeers) {
        Peer& peer = AddPeer(scene, false, false, dice.OneIn(3) ? kNarrow : kWide);
        peer.Send(linkw::Hello{.client_name = "observer", .role = linkw::Role::kObserver});
      }
      return true;
    case ActionKind::kConnectOddly:
      if (scene.peers.size() < kMostPeers) ConnectOddly(dice, scene);
      return true;
    default:
      return false;
  }
}

// The actions that concern no link of their own.
bool ConcernsAll(const Action& action, Dice& dice, Scene& scene) {
  switch (action.kind) {
    case ActionKind::kAdvance:
      Advance(dice, scene);
      return true;
    default:
      return CarryOutFault(action.kind, dice, scene) || Connects(action, dice, scene);
  }
}

void OfLink(const Action& action, Dice& dice, Scene& scene, Peer& peer) {
  switch (action.kind) {
    case ActionKind::kHangUp:
      return peer.HangUp();
    case ActionKind::kRubbish:
      return Rubbish(dice, peer);
    case ActionKind::kOddMessage:
      return OddMessage(dice, peer);
    case ActionKind::kHalfFrame:
      return peer.SplitNextFrame(dice.Below(60));
    case ActionKind::kAttachBuffer:
      return AttachBuffer(dice, peer);
    case ActionKind::kLooseFd:
      return LooseFd(dice, peer);
    case ActionKind::kAllocBuffer:
      peer.Send(linkw::BufAlloc{.buf_id = DrawBuffer(dice), .len = uint64_t{8192} * dice.Below(3)});
      return;
    case ActionKind::kReleaseBuffer:
      peer.Send(linkw::BufRelease{DrawBuffer(dice)});
      return;
    case ActionKind::kPing:
      peer.Send(linkw::Ping{});
      return;
    case ActionKind::kReadOrNot:
      return ReadOrNot(dice, peer);
    case ActionKind::kFlood:
      return Flood(dice, peer);
    case ActionKind::kInsideStep:
      return HappenInsideStep(dice, scene, peer);
    case ActionKind::kDrain:
      return Drain(dice, scene, peer);
    default:
      return CarryOutWork(action.kind, dice, peer);
  }
}

}  // namespace

Peer& ConnectDriver(Scene& scene, bool with_rings, size_t capacity_bytes) {
  Peer& peer = AddPeer(scene, true, true, capacity_bytes);
  peer.Send(linkw::Hello{.client_name = "driver", .role = linkw::Role::kDriver});
  if (!with_rings) return peer;
  peer.AttachRings();
  for (uint64_t id = 1; id <= kFirstBuffers; ++id) peer.AttachBuffer(id, kBufferBytes, 1);
  return peer;
}

void CarryOut(const Action& action, Scene& scene) {
  Dice dice(action.draw);
  if (ConcernsAll(action, dice, scene)) return;
  Peer* const peer = DrawPeer(dice, scene);
  if (peer == nullptr) return;
  OfLink(action, dice, scene, *peer);
  // A frame that was begun is finished with the next action of its link.
  if (action.kind != ActionKind::kHalfFrame) peer->FinishHalfFrame();
}

}  // namespace superfluid::simulation
