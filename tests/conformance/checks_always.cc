// What always holds: rubbish, order, fairness, the end of a link.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"
#include "tests/conformance/speech.h"
#include "tests/conformance/wire.h"

namespace superfluid::conformance {
namespace {

std::string RandomBytes(Context& context, size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(context.Random(256));
  return bytes;
}

void RandomStreams(Context& context) {
  for (int i = 0; i < 50; ++i) {
    Peer peer(context.Connect(), context.until());
    peer.SendBytes("SFLW" + RandomBytes(context, 28 + context.Random(500)));
    ExpectLinkError(peer, {Status::kProtocolError, Status::kVersionMismatch});
  }
  for (int i = 0; i < 20; ++i) {
    Link link(context, linkw::Role::kObserver);
    link.peer().SendBytes(RandomBytes(context, 32 + context.Random(2000)));
    link.ExpectLinkError({Status::kProtocolError, Status::kVersionMismatch});
  }
}

// Good frames with random payloads: each is answered, or is a link error.
void RandomPayloads(Context& context) {
  for (int i = 0; i < 200; ++i) {
    Link link(context);
    const auto type = static_cast<uint16_t>(context.Random(0x90));
    const std::string payload = RandomBytes(context, context.Random(60));
    link.peer().SendFrame(type, payload);
    link.Send(linkw::Ping{});
    link.peer().Listen(absl::Milliseconds(2));
  }
}

// Payloads of real messages with a byte changed.
void ChangedPayloads(Context& context) {
  const Lane lane{.lane_tag = linkw::LaneTag(1),
                  .sequence = SequenceId(1),
                  .input = {.ring_id = linkw::kTokenInRing, .generation = 2, .count = 1},
                  .max_tokens = 3};
  const std::vector<linkw::DriverMessage> messages = {
      linkw::TickSubmit{{.tick_id = 1, .lanes = {lane}}},
      linkw::StateSyncRequest{linkw::Fork{.parent = SequenceId(1)}},
      linkw::StateSyncRequest{linkw::CreateGrammar{R"({"type":"object"})"}},
      linkw::StateSyncRequest{linkw::CreateLogitBias{{1, 2}, {1.0f, 2.0f}}},
      linkw::StateOpSubmit{linkw::Snapshot{.sequence = SequenceId(1), .buf_id = linkw::BufId(1)}},
      linkw::StateSyncRequest{LiveTranscription()},
  };
  for (int i = 0; i < 150; ++i) {
    const linkw::DriverMessage& message = messages[context.Random(messages.size())];
    Link link(context);
    const std::string frame = Peer(context.Connect(), context.until()).Encode(message);
    std::string payload = frame.substr(kHeaderBytes);
    payload[context.Random(payload.size())] = static_cast<char>(context.Random(256));
    link.peer().SendFrame(static_cast<uint16_t>(linkw::TypeOf(message)), payload);
    link.Send(linkw::Ping{});
    link.peer().Next();  // an answer, the PONG, or the fatal ERROR
  }
}

void Vanishing(Context& context) {
  for (int i = 0; i < 60; ++i) {
    Link link(context);
    if (i % 3 == 0) link.OpenFds();
    const uint64_t steps = context.Random(6);
    for (uint64_t step = 0; step < steps; ++step) {
      switch (context.Random(4)) {
        case 0:
          link.Send(linkw::Ping{});
          break;
        case 1:
          link.SendCall(LiveTranscription());
          break;
        case 2:
          link.SendCall(linkw::CreateSequence{});
          break;
        default:
          link.Send(linkw::BufAttach{.buf_id = linkw::BufId(step), .len = 100});
      }
    }
  }
  Link(context).Ping();
}

void EverythingEndsWithTheLink(Context& context) {
  SequenceId sequence{};
  linkw::GrammarHandle grammar{};
  linkw::LogitBiasHandle bias{};
  {
    Driver driver(context);
    sequence = driver.Start(driver.Prompt(10));
    if (driver.facts().Has("create_grammar")) {
      grammar = driver.Ok<linkw::CreateGrammarResult>(linkw::CreateGrammar{R"({"type":"boolean"})"})
                    .grammar_handle;
    }
    if (driver.facts().Has("create_logit_bias")) {
      bias = driver.Ok<linkw::CreateLogitBiasResult>(linkw::CreateLogitBias{{0}, {1.0f}}).handle;
    }
  }
  Driver driver(context);
  driver.ExpectLaneError(driver.DecodeLane(sequence, {}, 1), {Status::kUnknownHandle},
                         "a sequence of a link that has ended");
  if (grammar != linkw::GrammarHandle{}) {
    driver.Refused(linkw::FreeGrammar{grammar}, {Status::kUnknownHandle},
                   "a grammar of a link that has ended");
  }
  if (bias != linkw::LogitBiasHandle{}) {
    driver.Refused(linkw::FreeLogitBias{bias}, {Status::kUnknownHandle},
                   "a bias of a link that has ended");
  }
}

void MemoryComesBack(Context& context) {
  const auto used = [&context] { return Link(context).Ping().mem.pool_blocks_used; };
  const uint64_t before = used();
  for (int i = 0; i < 5; ++i) {
    Driver driver(context);
    for (int j = 0; j < 5; ++j) driver.Start(driver.Prompt(60));
  }
  ExpectEq(used(), before, "pool_blocks_used when the links have ended");
}

void LinkEndsDuringATick(Context& context) {
  {
    Driver driver(context);
    driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 1000)});
    driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 1000)});
    driver.peer().Listen(absl::Milliseconds(50));
  }
  const auto start = Clock::now();
  Driver driver(context);
  driver.Run(driver.DecodeLane(kNew, driver.Prompt(4), 2));
  Expect(Clock::now() - start < std::chrono::milliseconds(1500),
         "the next link waited for the ticks of one that has ended");
}

void TicksBesideSpeech(Context& context) {
  Driver driver(context);
  const uint64_t speech = driver.SendCall(PathTranscription(context.SpeechFile(30'000)));
  const SequenceId sequence = driver.Start(driver.Prompt(4));
  double longest = 0;
  for (int i = 0; i < 50; ++i) {
    const auto start = Clock::now();
    driver.Draw(sequence, 1);
    longest = std::max(longest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  driver.Send(linkw::TranscribeCancel{speech});
  driver.Outcome(speech);
  Expect(longest < 1, absl::StrCat("a tick took ", longest, " s beside a transcription"));
}

void SpeechBesideQueuedTicks(Context& context) {
  Driver driver(context);
  std::vector<uint64_t> ticks;
  for (int i = 0; i < 12; ++i) {
    ticks.push_back(driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 100)}));
  }
  Hear(driver, driver.SendCall(PathTranscription(context.SpeechFile(500))));
  for (const Received& received : driver.peer().inbox()) {
    Expect(received.correlation != ticks.back(),
           "half a second of audio waited for a queue of twelve long ticks");
  }
  for (const uint64_t tick : ticks) driver.Result(tick);
}

void ShortSpeechBesideLong(Context& context) {
  Link link(context);
  const uint64_t long_one = link.SendCall(PathTranscription(context.SpeechFile(60'000)));
  const uint64_t short_one = link.SendCall(PathTranscription(context.SpeechFile(500)));
  Hear(link, short_one);
  const bool long_is_open = std::none_of(
      link.peer().inbox().begin(), link.peer().inbox().end(), [long_one](const Received& r) {
        return r.correlation == long_one &&
               std::holds_alternative<linkw::StateSyncResult>(r.message);
      });
  link.Send(linkw::TranscribeCancel{long_one});
  Hear(link, long_one, {Status::kCancelled, Status::kOk});
  Expect(long_is_open, "half a second of audio waited for a minute of it");
}

void RewrittenAudio(Context& context) {
  Link link(context);
  link.OpenFds();
  const std::string wav = Wav(Pcm(3000, 6000));
  Link::Buffer buffer = link.AttachBuffer(wav.size());
  std::copy_n(reinterpret_cast<const std::byte*>(wav.data()), wav.size(), buffer.segment.data());
  linkw::Transcribe request;
  request.audio =
      linkw::AudioBuffer{.buf_id = buffer.id, .length = wav.size(), .format = linkw::EncodedFile{}};
  const uint64_t seq = link.SendCall(request);
  while (!link.peer().TakeWithin([seq](const Received& r) { return r.correlation == seq; },
                                 absl::Milliseconds(1))) {
    for (int i = 0; i < 2000; ++i) {
      buffer.segment.data()[context.Random(wav.size())] =
          static_cast<std::byte>(context.Random(256));
    }
    Expect(!link.peer().closed(), "the link was closed");
  }
  link.Ping();
}

void AnswersThatNobodyReads(Context& context) {
  Link link(context);
  link.peer().set_deaf(true);
  // Far more answers than a socket holds.
  std::vector<uint64_t> seqs;
  std::string bytes;
  for (int i = 0; i < 2000; ++i) {
    seqs.push_back(link.peer().next_seq());
    bytes += link.peer().Encode(linkw::StateSyncRequest{linkw::Capabilities{}});
  }
  link.peer().SendBytes(bytes);
  for (int i = 0; i < 5; ++i) ExpectServing(context);
  link.peer().set_deaf(false);
  for (const uint64_t seq : seqs) link.ExpectOk(seq, "CAPABILITIES");
}

}  // namespace

void AddAlwaysChecks(std::vector<Check>& checks) {
  checks.push_back({"ALWAYS-3", "random streams", RandomStreams, {}, Pace::kAny, 60});
  checks.push_back({"ALWAYS-3", "random payloads", RandomPayloads, {}, Pace::kAny, 90});
  checks.push_back(
      {"ALWAYS-3", "payloads with a byte changed", ChangedPayloads, {}, Pace::kAny, 90});
  checks.push_back({"ALWAYS-3 END-1 FRAME-15", "peers that vanish", Vanishing, {}, Pace::kAny, 90});
  checks.push_back(
      {"END-1 CALL-4", "handles end with their link", EverythingEndsWithTheLink, {"tick"}});
  checks.push_back({"END-1 PING-2", "memory comes back", MemoryComesBack, {"tick"}});
  checks.push_back({"END-1 ALWAYS-7",
                    "a link that ends during a tick",
                    LinkEndsDuringATick,
                    {"tick"},
                    Pace::kSlow});
  checks.push_back(
      {"ALWAYS-8", "ticks beside a transcription", TicksBesideSpeech, {"tick", "transcribe"}});
  checks.push_back({"ALWAYS-8",
                    "short audio beside queued ticks",
                    SpeechBesideQueuedTicks,
                    {"tick", "transcribe"},
                    Pace::kSlow});
  checks.push_back({"ALWAYS-8",
                    "short audio beside long",
                    ShortSpeechBesideLong,
                    {"transcribe"},
                    Pace::kAny,
                    60});
  checks.push_back({"ALWAYS-8",
                    "ticks beside a slow transcription",
                    TicksBesideSpeech,
                    {"tick", "transcribe"},
                    Pace::kSlow});
  checks.push_back({"ALWAYS-8",
                    "short audio beside long, slow",
                    ShortSpeechBesideLong,
                    {"transcribe"},
                    Pace::kSlow,
                    60});
  checks.push_back({"ALWAYS-6",
                    "audio that is rewritten while it is read",
                    RewrittenAudio,
                    {"transcribe"},
                    Pace::kAny,
                    60});
  checks.push_back(
      {"ALWAYS-5", "answers that nobody reads", AnswersThatNobodyReads, {}, Pace::kAny, 60});
}

}  // namespace superfluid::conformance
