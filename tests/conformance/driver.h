#ifndef SUPERFLUID_TESTS_CONFORMANCE_DRIVER_H_
#define SUPERFLUID_TESTS_CONFORMANCE_DRIVER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/messages/messages.h"
#include "shm/control.h"
#include "shm/ring.h"
#include "tests/conformance/link.h"

namespace superfluid::conformance {

using linkw::FinishReason;
using linkw::Lane;
using linkw::LaneEvent;
using linkw::LaneKind;
using linkw::SequenceId;
using linkw::Token;
using Tokens = std::vector<Token>;

inline constexpr SequenceId kNew{};

// Temperature 0.
inline constexpr linkw::Sampling kGreedy{};
linkw::Sampling Warm(uint64_t seed);

// A driver with an fds socket, all rings and a control segment.
class Driver : public Link {
 public:
  explicit Driver(Context& context, std::vector<std::string> features = {});

  // ---- Tokens

  // Writes the tokens to the next slot of ring 1.
  linkw::TokenSpan Put(const Tokens& tokens);
  // Random ones below vocab_size.
  Tokens Prompt(size_t count);
  // What a lane drew; the span must be readable.
  Tokens Out(const LaneEvent& event) const;
  std::vector<std::pair<Token, float>> Logits(const LaneEvent& event) const;

  // ---- Lanes, with a tag of their own each

  linkw::LaneTag NewTag() { return linkw::LaneTag(++last_tag_); }
  Lane PrefillLane(SequenceId sequence, const Tokens& tokens);
  // With the tokens as input, which may be none.
  Lane DecodeLane(SequenceId sequence, const Tokens& tokens, uint32_t count,
                  const linkw::Sampling& sampling = kGreedy);
  Lane VerifyLane(SequenceId sequence, const Tokens& drafts, const linkw::Sampling& sampling);

  // ---- Ticks

  uint64_t Submit(std::vector<Lane> lanes, uint32_t flags = 0, uint64_t deadline_us = 0);
  // The result of a submitted tick. Its events, if it has any, are as TICK-2 says.
  linkw::TickResult Result(uint64_t seq);
  // Submit and Result; the tick must be OK.
  linkw::TickEvents Tick(std::vector<Lane> lanes, uint32_t flags = 0);
  // A tick of one lane, which must be OK.
  LaneEvent Run(Lane lane);
  // A tick of one lane, which must end with one of these statuses, or so must the tick.
  void ExpectLaneError(Lane lane, Statuses statuses, std::string_view what);
  void ExpectTickRefused(std::vector<Lane> lanes, Statuses statuses, std::string_view what);

  // A new sequence with these tokens.
  SequenceId Start(const Tokens& prompt);
  // Draws from a sequence, in one tick.
  Tokens Draw(SequenceId sequence, uint32_t count, const linkw::Sampling& sampling = kGreedy);
  // What a new sequence with this prompt draws, in one tick.
  Tokens Plain(const Tokens& prompt, uint32_t count, const linkw::Sampling& sampling = kGreedy);
  // Frees it, if the engine has the call.
  void Drop(SequenceId sequence);
  // Needs "fork": how many tokens a sequence has, and what it would draw; it stays as it is.
  uint64_t Position(SequenceId sequence);
  Tokens Future(SequenceId sequence, uint32_t count, const linkw::Sampling& sampling = kGreedy);

  // ---- Spaces

  const std::vector<linkw::StateSpaceDescriptor>& spaces() const {
    return ack().state_space_descriptors;
  }
  // A length at which every space may be cut.
  uint64_t Boundary() const;

  const RingReader& out_ring() const { return *out_; }
  DaemonControl& control() { return control_; }
  RingWriter& in() { return *in_; }
  const Segment& in_segment() const { return in_->segment(); }

 private:
  std::optional<RingWriter> in_;
  std::optional<RingReader> out_;
  std::optional<RingReader> logits_;
  DaemonControl control_;
  uint32_t next_in_ = 0;
  uint64_t last_tag_ = 100;
  uint64_t last_tick_ = 0;
  std::map<uint64_t, linkw::TickPlan> plans_;
};

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_DRIVER_H_
