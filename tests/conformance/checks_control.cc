// The control segment.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"
#include "tests/conformance/link.h"
#include "tests/conformance/speech.h"

namespace superfluid::conformance {
namespace {

// A control segment whose bytes this suite writes itself.
Segment MakeControl(uint64_t bytes = kControlBytes) {
  Segment segment = *Segment::Create(bytes, "conformance-control");
  if (bytes < 24) return segment;
  const uint32_t version = 1;
  const uint64_t size = 8384;
  const uint32_t lanes = 256;
  const uint32_t slots = 1024;
  std::memcpy(segment.data(), "SFLC", 4);
  std::memcpy(segment.data() + 4, &version, 4);
  std::memcpy(segment.data() + 8, &size, 8);
  std::memcpy(segment.data() + 16, &lanes, 4);
  std::memcpy(segment.data() + 20, &slots, 4);
  return segment;
}

void Attaches(Context& context) {
  Link link(context);
  link.OpenFds();
  link.SendFd(kControlTag, MakeControl());
  const auto ack =
      link.peer().Await<linkw::ControlAck>(link.Send(linkw::ControlAttach{.bytes = kControlBytes}));
  ExpectEq(ack.bytes, kControlBytes, "bytes of CONTROL_ACK");
}

void WrongControl(Context& context) {
  Link link(context);
  link.OpenFds();
  const auto refused = [&link](const Segment& segment, uint64_t bytes, std::string_view what) {
    link.SendFd(kControlTag, segment);
    link.ExpectRefused(link.Send(linkw::ControlAttach{.bytes = bytes}), {Status::kInvalidArgument},
                       what);
  };
  for (const size_t at : {size_t{0}, size_t{4}, size_t{8}, size_t{16}, size_t{20}}) {
    Segment segment = MakeControl();
    segment.data()[at] ^= std::byte{1};
    refused(segment, kControlBytes, absl::StrCat("another value at byte ", at));
  }
  refused(MakeControl(4096), kControlBytes, "a segment that is too small");
  refused(MakeControl(), kControlBytes - 1, "bytes that are too few");
  refused(MakeControl(), 0, "no bytes");
  refused(MakeControl(), ~uint64_t{0}, "all the bytes there are");
  const OwnedFd unsealed(memfd_create("conformance", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Expect(ftruncate(unsealed.get(), kControlBytes) == 0, "no memfd");
  link.SendFd(kControlTag, unsealed.get());
  link.ExpectRefused(link.Send(linkw::ControlAttach{.bytes = kControlBytes}),
                     {Status::kInvalidArgument}, "a memfd without seals");
  link.SendFd(kControlTag, MakeControl());
  link.peer().Await<linkw::ControlAck>(link.Send(linkw::ControlAttach{.bytes = kControlBytes}));
}

void HeartbeatOfTicks(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(8);
  uint64_t last_ns = 0;
  for (int i = 0; i < 3; ++i) {
    const linkw::TickEvents events = driver.Tick({driver.PrefillLane(kNew, prompt)});
    const absl::StatusOr<Heartbeat> beat = driver.control().ReadHeartbeat();
    Expect(beat.ok(), "the heartbeat cannot be read");
    ExpectEq(beat->tick_id, events.tick_id, "tick_id of the heartbeat");
    Expect(beat->monotonic_ns > last_ns, "the heartbeat's time does not advance");
    last_ns = beat->monotonic_ns;
  }
}

void StopBit(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(8);
  for (const uint32_t slot : {1u, 64u, 65u, 256u}) {
    Lane stopped = driver.DecodeLane(kNew, prompt, 1024);
    stopped.stop_slot = slot;
    Lane other = driver.DecodeLane(kNew, prompt, 2);
    other.stop_slot = slot == 256 ? 1 : slot + 1;
    const uint64_t tick = driver.Submit({stopped, other});
    driver.peer().Listen(absl::Milliseconds(30));
    Expect(driver.control().SetLaneStop(slot - 1, true).ok(), "no such stop bit");
    const linkw::TickResult result = driver.Result(tick);
    Expect(driver.control().SetLaneStop(slot - 1, false).ok(), "no such stop bit");
    ExpectEq(result.status, Status::kOk, "status of a tick with a stopped lane");
    ExpectEq(result.events.lanes[0].finish_reason, FinishReason::kStopped, "the stopped lane");
    ExpectEq(result.events.lanes[1].finish_reason, FinishReason::kNotFinished, "the other lane");
    ExpectEq(driver.Out(result.events.lanes[1]).size(), size_t{2}, "tokens of the other lane");
    Expect(driver.Out(result.events.lanes[0]).size() < 1024, "the stopped lane drew everything");
  }
}

void StopBitBeforehand(Context& context) {
  Driver driver(context);
  Expect(driver.control().SetLaneStop(4, true).ok(), "no such stop bit");
  Lane stopped = driver.DecodeLane(kNew, driver.Prompt(8), 100);
  stopped.stop_slot = 5;
  const LaneEvent event = driver.Run(stopped);
  ExpectEq(event.finish_reason, FinishReason::kStopped, "a lane whose stop bit is set already");
  // Stop slot 0 is none, whatever the bits say.
  Expect(driver.control().SetLaneStop(0, true).ok(), "no such stop bit");
  const LaneEvent free = driver.Run(driver.DecodeLane(kNew, driver.Prompt(8), 3));
  ExpectEq(driver.Out(free).size(), size_t{3}, "tokens of a lane without a stop slot");
}

void StoppedLaneAppends(Context& context) {
  Driver driver(context);
  Expect(driver.control().SetLaneStop(6, true).ok(), "no such stop bit");
  const Tokens prompt = driver.Prompt(8);
  Lane stopped = driver.DecodeLane(kNew, prompt, 100);
  stopped.stop_slot = 7;
  const LaneEvent event = driver.Run(stopped);
  ExpectEq(event.finish_reason, FinishReason::kStopped, "a lane whose stop bit is set already");
  ExpectEq(driver.Out(event).size(), size_t{0}, "tokens that it drew");
  Expect(event.sequence != SequenceId{}, "it made no sequence");
  ExpectEq(event.position, prompt.size(), "position of its sequence");
  ExpectEq(driver.Draw(event.sequence, 5), driver.Plain(prompt, 5), "what its sequence draws now");
}

void SlotsThatAreNone(Context& context) {
  Driver driver(context);
  if (driver.facts().Has("tick")) {
    Lane lane = driver.DecodeLane(kNew, driver.Prompt(3), 1);
    lane.stop_slot = 257;
    driver.ExpectLaneError(lane, {Status::kInvalidArgument}, "stop_slot 257");
  }
  if (driver.facts().Has("transcribe")) {
    linkw::Transcribe request = LiveTranscription();
    request.control_slot = 1025;
    driver.Refused(request, {Status::kInvalidArgument}, "control_slot 1025");
  }
}

void SlotsWithoutASegment(Context& context) {
  Link link(context);
  linkw::Transcribe request = LiveTranscription();
  request.control_slot = 1024;
  const uint64_t seq = link.SendCall(request);
  link.Send(
      linkw::TranscribeAudio{.request_seq = seq, .data = Pcm(100, 6000), .end_of_stream = true});
  link.ExpectOk(seq, "a control_slot on a link without a control segment");
}

void StopWord(Context& context) {
  Driver driver(context);
  linkw::Transcribe request = LiveTranscription();
  request.control_slot = 3;
  const uint64_t seq = driver.SendCall(request);
  driver.Send(linkw::TranscribeAudio{.request_seq = seq, .data = Pcm(500, 6000)});
  Expect(driver.control().StopTranscription(2, seq + 1000).ok(), "no such stop word");
  Expect(driver.control().StopTranscription(1, seq).ok(), "no such stop word");
  driver.peer().Listen(absl::Milliseconds(300));
  for (const Received& received : driver.peer().inbox()) {
    Expect(!std::holds_alternative<linkw::StateSyncResult>(received.message),
           "another request's stop word, or another slot's, stopped the transcription");
  }
  Expect(driver.control().StopTranscription(2, seq).ok(), "no such stop word");
  const auto result = driver.peer().Await<linkw::StateSyncResult>(seq);
  ExpectEq(result.status, Status::kCancelled, "a transcription whose stop word is set");
}

}  // namespace

void AddControlChecks(std::vector<Check>& checks) {
  checks.push_back({"CTRL-1", "the control segment is attached", Attaches});
  checks.push_back({"CTRL-2 ERR-1", "control segments that will not do", WrongControl});
  checks.push_back({"CTRL-3", "the heartbeat names each tick", HeartbeatOfTicks, {"tick"}});
  checks.push_back(
      {"CTRL-4 ALWAYS-7", "a stop bit ends one lane", StopBit, {"tick"}, Pace::kSlow, 30});
  checks.push_back(
      {"CTRL-4", "a stop bit set beforehand, and slot 0", StopBitBeforehand, {"tick"}});
  checks.push_back(
      {"TICK-29 CTRL-4", "a lane stopped beforehand appends", StoppedLaneAppends, {"tick"}});
  checks.push_back({"CTRL-6 ERR-1", "slots that are none", SlotsThatAreNone});
  checks.push_back(
      {"CTRL-6", "slots without a control segment", SlotsWithoutASegment, {"transcribe"}});
  checks.push_back({"CTRL-5", "a stop word ends one transcription", StopWord, {"transcribe"}});
}

}  // namespace superfluid::conformance
