#include "tests/conformance/driver.h"

#include <bit>
#include <numeric>

namespace superfluid::conformance {
namespace {

Segment RingSegment(const RingSpec& spec) {
  absl::StatusOr<Segment> segment = Segment::Create(*RingBytes(spec), "conformance-ring");
  Expect(segment.ok(), "no memory for a ring");
  return *std::move(segment);
}

SpanRef Ref(const linkw::TokenSpan& span) {
  return {.ring = static_cast<uint32_t>(span.ring_id),
          .slot = span.slot,
          .generation = span.generation,
          .offset = span.offset,
          .count = span.count};
}

std::vector<uint32_t> ReadSpan(const RingReader& reader, const linkw::TokenSpan& span,
                               std::string_view what) {
  std::vector<uint32_t> words(span.count);
  if (span.count == 0) return words;
  const absl::StatusOr<uint32_t> read = reader.Read(Ref(span), absl::MakeSpan(words));
  if (!read.ok()) {
    Fail(absl::StrCat(View(what), " cannot be read: ", std::string(read.status().message())));
  }
  return words;
}

DaemonControl MakeControl() {
  absl::StatusOr<DaemonControl> control = DaemonControl::Create();
  Expect(control.ok(), "no memory for a control segment");
  return *std::move(control);
}

void CheckEvents(const linkw::TickPlan& plan, const linkw::TickEvents& events) {
  ExpectEq(events.tick_id, plan.tick_id, "[TICK-2] tick_id of the result");
  ExpectEq(events.lanes.size(), plan.lanes.size(), "[TICK-2] events of the tick");
  for (size_t i = 0; i < events.lanes.size(); ++i) {
    const LaneEvent& event = events.lanes[i];
    ExpectEq(event.lane_tag, plan.lanes[i].lane_tag, "[TICK-2] tag of an event");
    const bool error = event.finish_reason == FinishReason::kError;
    ExpectEq(event.status != Status::kOk, error, "[TICK-9] LANE_ERROR means a status, else OK");
    Expect(error || event.sequence != kNew, "[TICK-14] an event without a sequence");
    Expect(event.out.count <= plan.lanes[i].max_tokens, "[TICK-16] more tokens than max_tokens");
    Expect(plan.lanes[i].want_logits || event.logits.count == 0,
           "[TICK-22] logits that nobody asked for");
  }
}

}  // namespace

linkw::Sampling Warm(uint64_t seed) { return {.temperature = 1, .seed = seed}; }

Driver::Driver(Context& context, std::vector<std::string> features)
    : Link(context, linkw::Role::kDriver, std::move(features)), control_(MakeControl()) {
  OpenFds();
  Segment in = RingSegment(kTokenInRing);
  Segment out = RingSegment(kTokenOutRing);
  Segment logits = RingSegment(kLogitsRing);
  const std::vector<uint64_t> attaches = {AttachRing(kTokenInRing, in),
                                          AttachRing(kTokenOutRing, out),
                                          AttachRing(kLogitsRing, logits)};
  absl::StatusOr<OwnedFd> fd = control_.DuplicateFd();
  Expect(fd.ok(), "no descriptor left");
  SendFd(kControlTag, fd->get());
  const uint64_t control = Send(linkw::ControlAttach{.bytes = kControlBytes});
  for (const uint64_t seq : attaches) peer().Await<linkw::RingAck>(seq);
  peer().Await<linkw::ControlAck>(control);
  in_.emplace(*RingWriter::Open(std::move(in), kTokenInRing));
  out_.emplace(*RingReader::Open(std::move(out), kTokenOutRing));
  logits_.emplace(*RingReader::Open(std::move(logits), kLogitsRing));
}

linkw::TokenSpan Driver::Put(const Tokens& tokens) {
  if (tokens.empty()) return {};
  const absl::StatusOr<SpanRef> ref = in_->Write(next_in_, tokens, 0);
  Expect(ref.ok(), "tokens do not fit into a slot");
  next_in_ = (next_in_ + 1) % kTokenInRing.slots;
  return {.ring_id = linkw::RingId(ref->ring),
          .slot = ref->slot,
          .generation = ref->generation,
          .offset = ref->offset,
          .count = ref->count};
}

Tokens Driver::Prompt(size_t count) {
  Tokens tokens(count);
  for (Token& token : tokens) token = static_cast<Token>(context().Random(facts().vocab_size));
  return tokens;
}

Tokens Driver::Out(const LaneEvent& event) const {
  return ReadSpan(*out_, event.out, "[TICK-19] the out span");
}

std::vector<std::pair<Token, float>> Driver::Logits(const LaneEvent& event) const {
  const std::vector<uint32_t> words = ReadSpan(*logits_, event.logits, "[TICK-22] the logits span");
  Expect(words.size() % 2 == 0, "[TICK-22] an odd number of words in the logits span");
  std::vector<std::pair<Token, float>> logits;
  for (size_t i = 0; i < words.size(); i += 2) {
    logits.emplace_back(words[i], std::bit_cast<float>(words[i + 1]));
  }
  return logits;
}

Lane Driver::PrefillLane(SequenceId sequence, const Tokens& tokens) {
  return {
      .lane_tag = NewTag(), .sequence = sequence, .input = Put(tokens), .kind = LaneKind::kPrefill};
}

Lane Driver::DecodeLane(SequenceId sequence, const Tokens& tokens, uint32_t count,
                        const linkw::Sampling& sampling) {
  return {.lane_tag = NewTag(),
          .sequence = sequence,
          .input = Put(tokens),
          .kind = LaneKind::kDecode,
          .max_tokens = count,
          .sampling = sampling};
}

Lane Driver::VerifyLane(SequenceId sequence, const Tokens& drafts,
                        const linkw::Sampling& sampling) {
  return {.lane_tag = NewTag(),
          .sequence = sequence,
          .kind = LaneKind::kVerify,
          .max_tokens = static_cast<uint32_t>(drafts.size()) + 1,
          .sampling = sampling,
          .draft_tokens = drafts};
}

uint64_t Driver::Submit(std::vector<Lane> lanes, uint32_t flags, uint64_t deadline_us) {
  linkw::TickPlan plan{.tick_id = ++last_tick_,
                       .flags = flags,
                       .deadline_us = deadline_us,
                       .lanes = std::move(lanes)};
  const uint64_t seq = Send(linkw::TickSubmit{plan});
  plans_.emplace(seq, std::move(plan));
  return seq;
}

linkw::TickResult Driver::Result(uint64_t seq) {
  auto result = peer().Await<linkw::TickResult>(seq);
  const bool has_events = result.status == Status::kOk || !result.events.lanes.empty();
  if (has_events) CheckEvents(plans_.at(seq), result.events);
  return result;
}

linkw::TickEvents Driver::Tick(std::vector<Lane> lanes, uint32_t flags) {
  linkw::TickResult result = Result(Submit(std::move(lanes), flags));
  if (result.status != Status::kOk) {
    Fail(absl::StrCat("a good tick: ", Show(result.status), " ", Show(result.message)));
  }
  return std::move(result.events);
}

LaneEvent Driver::Run(Lane lane) {
  LaneEvent event = Tick({std::move(lane)}).lanes[0];
  if (event.status != Status::kOk) {
    Fail(absl::StrCat("a good lane: ", Show(event.status), " ", Show(event.message)));
  }
  return event;
}

void Driver::ExpectLaneError(Lane lane, Statuses statuses, std::string_view what) {
  const linkw::TickResult result = Result(Submit({std::move(lane)}));
  const Status status =
      result.status == Status::kOk ? result.events.lanes[0].status : result.status;
  for (const Status expected : statuses) {
    if (status == expected) return;
  }
  Fail(absl::StrCat(View(what), ": saw ", Show(status), ", expected ", Names(statuses)));
}

void Driver::ExpectTickRefused(std::vector<Lane> lanes, Statuses statuses, std::string_view what) {
  ExpectRefused(Submit(std::move(lanes)), statuses, what);
}

SequenceId Driver::Start(const Tokens& prompt) { return Run(PrefillLane(kNew, prompt)).sequence; }

Tokens Driver::Draw(SequenceId sequence, uint32_t count, const linkw::Sampling& sampling) {
  return Out(Run(DecodeLane(sequence, {}, count, sampling)));
}

Tokens Driver::Plain(const Tokens& prompt, uint32_t count, const linkw::Sampling& sampling) {
  const LaneEvent event = Run(DecodeLane(kNew, prompt, count, sampling));
  Tokens tokens = Out(event);
  Drop(event.sequence);
  return tokens;
}

void Driver::Drop(SequenceId sequence) {
  if (!facts().Has("free_sequence")) return;
  Ok<linkw::FreeSequenceResult>(linkw::FreeSequence{sequence});
}

uint64_t Driver::Position(SequenceId sequence) {
  const SequenceId child = Ok<linkw::ForkResult>(linkw::Fork{.parent = sequence}).child;
  const uint64_t position = Run(DecodeLane(child, {}, 1)).position - 1;
  Drop(child);
  return position;
}

Tokens Driver::Future(SequenceId sequence, uint32_t count, const linkw::Sampling& sampling) {
  const SequenceId child = Ok<linkw::ForkResult>(linkw::Fork{.parent = sequence}).child;
  Tokens tokens = Draw(child, count, sampling);
  Drop(child);
  return tokens;
}

uint64_t Driver::Boundary() const {
  uint64_t boundary = 1;
  for (const linkw::StateSpaceDescriptor& space : spaces()) {
    boundary = std::lcm(boundary, uint64_t{space.boundary_tokens});
  }
  return boundary;
}

}  // namespace superfluid::conformance
