#include "tests/simulation/work_actions.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace superfluid::simulation {
namespace {

constexpr uint32_t kPcmBytesPerMs = 32;  // 16 kHz, one channel, 16 bits

std::string Noise(Dice& dice, uint32_t ms) {
  std::string pcm(size_t{ms} * kPcmBytesPerMs, '\0');
  for (char& byte : pcm) byte = static_cast<char>(dice.Below(256));
  return pcm;
}

// Draws a deadline in ms: none, soon, or in weeks.
uint32_t DrawDeadline(Dice& dice) {
  switch (dice.Below(6)) {
    case 0:
      return dice.Between(1, 40);
    case 1:
      return dice.Between(1, 2000);
    case 2:
      return 0xffffffffu - dice.Below(1000);
    default:
      return 0;
  }
}

linkw::SequenceId DrawSequence(Dice& dice, const Peer& peer) {
  if (peer.sequences.empty() || dice.OneIn(10)) return linkw::SequenceId{dice.Below(50)};
  return dice.Pick(peer.sequences);
}

// Two blocks of the cache.
std::vector<uint32_t> CommonPrompt() { return std::vector<uint32_t>(32, 7); }

linkw::Lane DrawLane(Dice& dice, Peer& peer, uint64_t tag) {
  linkw::Lane lane;
  lane.lane_tag = linkw::LaneTag{tag};
  lane.sequence = dice.OneIn(3) ? linkw::SequenceId{} : DrawSequence(dice, peer);
  std::vector<uint32_t> input(dice.Below(40));
  for (uint32_t& token : input) token = dice.Below(256);
  if (dice.OneIn(4)) {  // a prompt that many have in common
    input = CommonPrompt();
    lane.sequence = {};
  }
  lane.input = peer.Write(input);
  lane.max_tokens = dice.Below(3) * 5;
  lane.kind = lane.max_tokens == 0 ? linkw::LaneKind::kPrefill : linkw::LaneKind::kDecode;
  lane.sampling = {.temperature = dice.OneIn(2) ? 0.0F : 0.8F, .seed = dice.Below(9)};
  lane.want_logits = dice.OneIn(6);
  if (dice.OneIn(5)) lane.stop_slot = 1 + dice.Below(4);
  if (dice.OneIn(20)) lane.grammar_handle = linkw::GrammarHandle{dice.Below(5)};
  return lane;
}

void Tick(Dice& dice, Peer& peer) {
  std::vector<linkw::Lane> lanes;
  const uint32_t first_tag = dice.Below(8);
  for (uint32_t i = dice.Between(1, 4); i > 0; --i) {
    lanes.push_back(DrawLane(dice, peer, first_tag + i));
  }
  uint64_t deadline_us = 0;
  if (dice.OneIn(8)) deadline_us = dice.Between(1, 30'000);
  if (dice.OneIn(16)) deadline_us = uint64_t{1} << 50;
  SendTick(peer, std::move(lanes), deadline_us, dice.Below(2));
}

void Op(Dice& dice, Peer& peer) {
  const linkw::SequenceId sequence = DrawSequence(dice, peer);
  const linkw::SpaceId space{dice.Below(2)};
  const linkw::TokenRange range{0, dice.Below(64)};
  if (peer.sized && !dice.OneIn(4)) {  // one that can be
    const Peer::Sized sized = *peer.sized;
    if (dice.OneIn(2)) {
      peer.Send(linkw::StateOpSubmit{linkw::Snapshot{.sequence = sized.sequence,
                                                     .space_id = sized.space,
                                                     .boundary_pos = sized.end,
                                                     .buf_id = DrawBuffer(dice),
                                                     .sizing_gen = sized.gen}});
    } else {
      peer.Send(linkw::StateOpSubmit{linkw::Demote{.sequence = sized.sequence,
                                                   .space_id = sized.space,
                                                   .range = {0, sized.end},
                                                   .encoding = 0,
                                                   .buf_id = DrawBuffer(dice),
                                                   .sizing_gen = sized.gen}});
    }
    return;
  }
  switch (dice.Below(3)) {
    case 0:
      peer.Send(linkw::StateOpSubmit{linkw::Snapshot{.sequence = sequence,
                                                     .space_id = space,
                                                     .boundary_pos = range.end,
                                                     .buf_id = DrawBuffer(dice),
                                                     .sizing_gen = dice.Below(4)}});
      break;
    case 1:
      peer.Send(linkw::StateOpSubmit{
          linkw::Restore{.sequence = sequence, .space_id = space, .buf_id = DrawBuffer(dice)}});
      break;
    default:
      peer.Send(linkw::StateOpSubmit{linkw::Promote{
          .sequence = sequence, .space_id = space, .range = range, .buf_id = DrawBuffer(dice)}});
  }
}

void Call(Dice& dice, Peer& peer) {
  linkw::StateSyncRequest call;
  switch (dice.Below(11)) {
    case 0:
      call.call = linkw::CreateSequence{};
      break;
    case 1:
      call.call = linkw::Fork{.parent = DrawSequence(dice, peer)};
      break;
    case 2:
      call.call = linkw::FreeSequence{DrawSequence(dice, peer)};
      break;
    case 3:
      call.call = linkw::Trim{.sequence = DrawSequence(dice, peer),
                              .space_id = linkw::SpaceId{dice.Below(2)},
                              .new_len = dice.Below(32)};
      break;
    case 4:
      call.call = linkw::CreateGrammar{R"({"type":"string","maxLength":4})"};
      break;
    case 5:
      call.call = linkw::Capabilities{};
      break;
    case 6:
      call.call = linkw::PublishSequence{.sequence = DrawSequence(dice, peer),
                                         .span = peer.Write(CommonPrompt())};
      break;
    case 7:
      call.call = linkw::Embed{{1, 2, dice.Below(300)}};
      break;
    case 8:
      call.call = linkw::CacheEvict{.bytes_target = dice.Below(100'000)};
      break;
    default: {
      Peer::Sized sized{.sequence = DrawSequence(dice, peer),
                        .space = linkw::SpaceId{dice.Below(2)},
                        .end = dice.Below(32)};
      const auto known = peer.positions.find(sized.sequence);
      if (known != peer.positions.end() && !dice.OneIn(4)) sized.end = known->second;
      peer.asked_size = sized;
      call.call = linkw::ExportSize{
          .sequence = sized.sequence, .space_id = sized.space, .range = {0, sized.end}};
    }
  }
  peer.Send(call);
}

void Seed(Dice& dice, Peer& peer) {
  switch (dice.Below(4)) {
    case 0:
      peer.Send(linkw::MatchRequest{.span = peer.Write({1, 2, 3})});
      break;
    case 1:
      peer.Send(linkw::SeedAcquire{.span = peer.Write(CommonPrompt()),
                                   .prefix_len = uint64_t{16} * dice.Below(3)});
      break;
    case 2:
      for (uint32_t i = dice.Below(40); i > 0; --i) {
        peer.Send(linkw::SeedRelease{linkw::SeedHandle{dice.Below(100)}});
      }
      break;
    default:
      if (!peer.seeds.empty()) peer.Send(linkw::SeedRelease{dice.Pick(peer.seeds)});
  }
}

constexpr linkw::PcmFormat kPcm = {
    .sample_rate_hz = 16000, .channels = 1, .sample_format = linkw::SampleFormat::kS16};

// Draws what goes wrong with one transcription: nearly always nothing.
std::string DrawPrompt(Dice& dice) {
  static constexpr std::array kFaults = {"sim:fail_at_step=2", "sim:fail_start=1"};
  return dice.OneIn(12) ? dice.Pick(kFaults) : std::string();
}

void Transcribe(Dice& dice, Peer& peer) {
  linkw::Transcribe transcribe;
  transcribe.stream = !dice.OneIn(3);
  transcribe.partial_results = dice.OneIn(2);
  transcribe.deadline_ms = DrawDeadline(dice);
  transcribe.prompt = DrawPrompt(dice);
  if (dice.OneIn(4)) transcribe.control_slot = 1 + dice.Below(4);
  if (dice.OneIn(5)) transcribe.progress_ms = 10;
  if (dice.OneIn(4)) {
    transcribe.audio = linkw::AudioBuffer{
        .buf_id = DrawBuffer(dice), .offset = 0, .length = kBufferBytes, .format = kPcm};
    peer.Send(linkw::StateSyncRequest{transcribe});
    return;
  }
  transcribe.audio = linkw::AudioLive{kPcm};
  const uint64_t seq = peer.Send(linkw::StateSyncRequest{transcribe});
  if (dice.OneIn(8)) {  // it is cancelled on its way to the engine
    peer.Send(linkw::TranscribeCancel{seq});
    return;
  }
  if (dice.OneIn(3)) return;  // its audio comes later
  const uint32_t ms = dice.OneIn(4) ? dice.Between(500, 3000) : dice.Between(10, 400);
  peer.Send(linkw::TranscribeAudio{
      .request_seq = seq, .data = Noise(dice, ms), .end_of_stream = !dice.OneIn(3)});
}

void Audio(Dice& dice, Peer& peer) {
  const std::vector<uint64_t> live = peer.oracle().OpenLive();
  const std::vector<uint64_t> open = peer.oracle().OpenTranscriptions();
  linkw::TranscribeAudio audio;
  if (!live.empty()) audio.request_seq = dice.Pick(live);
  // Audio for a request that takes none (it has a buffer, it has ended, it never was).
  if (dice.OneIn(8))
    audio.request_seq = open.empty() || dice.OneIn(3) ? dice.Below(100) : dice.Pick(open);
  audio.data = Noise(dice, dice.Between(1, 200));
  if (dice.OneIn(6)) {
    audio.data =
        linkw::BufferSpan{.buf_id = DrawBuffer(dice), .length = uint64_t{3200} * dice.Below(2)};
  }
  audio.end_of_stream = dice.OneIn(5);
  peer.Send(audio);
}

void Cancel(Dice& dice, Peer& peer) {
  const std::vector<uint64_t> open = peer.oracle().OpenTranscriptions();
  const std::vector<linkw::OpHandle> ops = peer.oracle().OpenOps();
  switch (dice.Below(6)) {
    case 0:
      for (uint32_t i = dice.OneIn(3) ? 60 : 1; i > 0; --i) peer.Send(linkw::TranscribeCancel{0});
      break;
    case 1:
      peer.Send(linkw::OpCancel{ops.empty() ? linkw::OpHandle{dice.Below(20)} : dice.Pick(ops)});
      break;
    default:
      peer.Send(linkw::TranscribeCancel{open.empty() ? dice.Below(30) : dice.Pick(open)});
  }
}

void StopBit(Dice& dice, Peer& peer) {
  if (peer.control() == nullptr) return;
  peer.control()->SetLaneStop(dice.Below(4), dice.OneIn(2)).IgnoreError();
}

void StopWord(Dice& dice, Peer& peer) {
  const std::vector<uint64_t> open = peer.oracle().OpenTranscriptions();
  if (peer.control() == nullptr) return;
  const uint64_t seq = open.empty() || dice.OneIn(3) ? 0 : dice.Pick(open);
  peer.WriteStopWord(dice.Below(4), seq);
}

}  // namespace

linkw::BufId DrawBuffer(Dice& dice) {
  return linkw::BufId{1 + (dice.OneIn(2) ? dice.Below(kFirstBuffers) : dice.Below(kBuffers + 1))};
}

linkw::Lane PlainLane(Peer& peer, uint64_t tag) {
  linkw::Lane lane;
  lane.lane_tag = linkw::LaneTag{tag};
  lane.input = peer.Write({1, 2, 3});
  lane.kind = linkw::LaneKind::kDecode;
  lane.max_tokens = 4;
  return lane;
}

void SendTick(Peer& peer, std::vector<linkw::Lane> lanes, uint64_t deadline_us, uint32_t flags) {
  peer.Send(linkw::TickSubmit{{.tick_id = ++peer.ticks,
                               .flags = flags,
                               .deadline_us = deadline_us,
                               .lanes = std::move(lanes)}});
}

uint64_t SendSpeech(Peer& peer) {
  Dice dice(peer.ticks);
  linkw::Transcribe transcribe;
  transcribe.audio = linkw::AudioLive{kPcm};
  transcribe.stream = true;
  const uint64_t seq = peer.Send(linkw::StateSyncRequest{transcribe});
  peer.Send(
      linkw::TranscribeAudio{.request_seq = seq, .data = Noise(dice, 200), .end_of_stream = true});
  return seq;
}

void CarryOutWork(ActionKind kind, Dice& dice, Peer& peer) {
  switch (kind) {
    case ActionKind::kTick:
      return Tick(dice, peer);
    case ActionKind::kTickBurst:
      for (uint32_t i = dice.Between(5, 40); i > 0; --i) Tick(dice, peer);
      return;
    case ActionKind::kCall:
      return Call(dice, peer);
    case ActionKind::kSeed:
      return Seed(dice, peer);
    case ActionKind::kOp:
      return Op(dice, peer);
    case ActionKind::kTranscribe:
      return Transcribe(dice, peer);
    case ActionKind::kAudio:
      return Audio(dice, peer);
    case ActionKind::kCancel:
      return Cancel(dice, peer);
    case ActionKind::kStopBit:
      return StopBit(dice, peer);
    case ActionKind::kStopWord:
      return StopWord(dice, peer);
    default:
      return;
  }
}

}  // namespace superfluid::simulation
