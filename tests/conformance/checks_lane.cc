// What one lane does.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"

namespace superfluid::conformance {
namespace {

Tokens Joined(Tokens first, const Tokens& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Runs a wrong lane beside a good one; the wrong one alone fails, and its sequence stays.
void ExpectOneWrong(Driver& driver, const Lane& wrong, Statuses statuses, std::string_view what) {
  const Tokens prompt = driver.Prompt(6);
  const linkw::TickResult result =
      driver.Result(driver.Submit({wrong, driver.DecodeLane(kNew, prompt, 4)}));
  ExpectEq(result.status, Status::kOk, what);
  const LaneEvent& event = result.events.lanes[0];
  ExpectEq(event.finish_reason, FinishReason::kError, what);
  if (std::find(statuses.begin(), statuses.end(), event.status) == statuses.end()) {
    Fail(absl::StrCat(View(what), ": saw ", Show(event.status), " ", Show(event.message),
                      ", expected ", Names(statuses)));
  }
  Expect(!event.message.empty(), absl::StrCat(View(what), ": no message"));
  ExpectEq(driver.Out(result.events.lanes[1]), driver.Plain(prompt, 4), "the other lane");
}

void UnknownHandles(Context& context) {
  Driver driver(context);
  for (const uint64_t handle : {uint64_t{987654321}, ~uint64_t{0}}) {
    ExpectOneWrong(driver, driver.DecodeLane(SequenceId(handle), driver.Prompt(3), 1),
                   {Status::kUnknownHandle}, "an unknown sequence");
    Lane lane = driver.DecodeLane(kNew, driver.Prompt(3), 1);
    lane.grammar_handle = linkw::GrammarHandle(handle);
    ExpectOneWrong(driver, lane, {Status::kUnknownHandle}, "an unknown grammar");
    lane = driver.DecodeLane(kNew, driver.Prompt(3), 1);
    lane.logit_bias_handle = linkw::LogitBiasHandle(handle);
    ExpectOneWrong(driver, lane, {Status::kUnknownHandle}, "an unknown logit bias");
  }
  Lane lane = driver.DecodeLane(kNew, driver.Prompt(3), 1);
  lane.strategy_slot = linkw::StrategySlot(4'000'000'000u);
  ExpectOneWrong(driver, lane, {Status::kUnknownHandle}, "an unknown strategy slot");
}

void WrongTokens(Context& context) {
  Driver driver(context);
  for (const Token token : {driver.facts().vocab_size, ~Token{0}}) {
    ExpectOneWrong(driver, driver.DecodeLane(kNew, {0, token, 0}, 1), {Status::kInvalidArgument},
                   "a token outside the vocabulary");
    const Tokens prompt = driver.Prompt(5);
    const SequenceId sequence = driver.Start(prompt);
    ExpectOneWrong(driver, driver.PrefillLane(sequence, {token}), {Status::kInvalidArgument},
                   "a token outside the vocabulary");
    ExpectEq(driver.Draw(sequence, 4), driver.Plain(prompt, 4), "the sequence of the wrong lane");
  }
}

void WrongMaxTokens(Context& context) {
  Driver driver(context);
  const SequenceId sequence = driver.Start(driver.Prompt(4));
  for (const uint32_t count : {1025u, 100'000u, ~0u}) {
    driver.ExpectLaneError(driver.DecodeLane(sequence, {}, count), {Status::kInvalidArgument},
                           "max_tokens over 1024");
  }
  Lane prefill = driver.PrefillLane(sequence, driver.Prompt(2));
  prefill.max_tokens = 1;
  driver.ExpectLaneError(prefill, {Status::kInvalidArgument}, "a prefill with max_tokens");
}

void DrawFromNothing(Context& context) {
  Driver driver(context);
  ExpectOneWrong(driver, driver.DecodeLane(kNew, {}, 3), {Status::kInvalidArgument},
                 "a draw from nothing");
}

void PrefillAppends(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(9);
  const LaneEvent first = driver.Run(driver.PrefillLane(kNew, prompt));
  ExpectEq(first.position, uint64_t{9}, "position after a prefill");
  ExpectEq(first.out.count, 0u, "tokens drawn by a prefill");
  ExpectEq(first.finish_reason, FinishReason::kNotFinished, "a prefill");
  const Tokens more = driver.Prompt(4);
  ExpectEq(driver.Run(driver.PrefillLane(first.sequence, more)).position, uint64_t{13}, "position");
  ExpectEq(driver.Draw(first.sequence, 5), driver.Plain(Joined(prompt, more), 5),
           "what the sequence draws");
}

void DecodeDraws(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(6);
  const LaneEvent first = driver.Run(driver.DecodeLane(kNew, prompt, 7));
  const Tokens drawn = driver.Out(first);
  ExpectEq(drawn.size(), size_t{7}, "tokens drawn");
  ExpectEq(first.position, uint64_t{13}, "position");
  ExpectEq(first.finish_reason, FinishReason::kNotFinished, "finish reason");
  for (const Token token : drawn) Expect(token < driver.facts().vocab_size, "a token out of range");
  // The drawn tokens are part of the sequence: it is as if they had been given.
  ExpectEq(driver.Draw(first.sequence, 5), driver.Plain(Joined(prompt, drawn), 5),
           "the running decode");
  // And input may follow.
  const Tokens input = driver.Prompt(3);
  const LaneEvent more = driver.Run(driver.DecodeLane(first.sequence, input, 2));
  ExpectEq(more.position, uint64_t{13 + 5 + 3 + 2}, "position after more input");
}

void VerifyAccepts(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(6);
  const linkw::Sampling sampling = Warm(9);
  const Tokens plain = driver.Plain(prompt, 12, sampling);
  for (size_t right = 0; right <= 6; ++right) {
    // `right` right drafts and, but for the last case, wrong ones behind.
    Tokens drafts(plain.begin(), plain.begin() + static_cast<int64_t>(right));
    for (size_t i = right; i < 6; ++i) {
      drafts.push_back((plain[i] + 1) % driver.facts().vocab_size);
    }
    const SequenceId sequence = driver.Start(prompt);
    const LaneEvent event = driver.Run(driver.VerifyLane(sequence, drafts, sampling));
    ExpectEq(event.accepted_drafts, static_cast<uint32_t>(right), "accepted_drafts");
    const Tokens expected(plain.begin(), plain.begin() + static_cast<int64_t>(right) + 1);
    ExpectEq(driver.Out(event), expected, "what the verify lane drew");
    ExpectEq(event.position, prompt.size() + expected.size(), "position");
  }
}

void VerifyIsBounded(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(6);
  const Tokens plain = driver.Plain(prompt, 6);
  Lane lane = driver.VerifyLane(driver.Start(prompt), plain, kGreedy);
  lane.max_tokens = 3;
  const Tokens three(plain.begin(), plain.begin() + 3);
  ExpectEq(driver.Out(driver.Run(lane)), three, "a verify lane with max_tokens 3");
  Lane empty = driver.VerifyLane(driver.Start(prompt), {}, kGreedy);
  ExpectEq(driver.Out(driver.Run(empty)), Tokens{plain[0]}, "a verify lane without drafts");
  Lane with_input = driver.VerifyLane(kNew, plain, kGreedy);
  with_input.input = driver.Put(prompt);
  ExpectEq(driver.Run(with_input).accepted_drafts, 6u, "a verify lane with input");
}

void StopTokens(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(6);
  const linkw::Sampling sampling = Warm(3);
  const Tokens plain = driver.Plain(prompt, 20, sampling);
  const Token stop = plain[7];
  const auto first = std::find(plain.begin(), plain.end(), stop);
  const Tokens expected(plain.begin(), first + 1);
  Lane lane = driver.DecodeLane(kNew, prompt, 20, sampling);
  lane.stop_tokens = {stop, stop};
  const LaneEvent event = driver.Run(lane);
  ExpectEq(event.finish_reason, FinishReason::kStopToken, "finish reason");
  ExpectEq(driver.Out(event), expected, "what was drawn up to the stop token");
  ExpectEq(event.position, prompt.size() + expected.size(), "position");
  // It is part of the sequence, which may go on.
  const Tokens rest(first + 1, plain.end());
  ExpectEq(driver.Draw(event.sequence, static_cast<uint32_t>(rest.size()), sampling), rest,
           "the sequence, continued without stop tokens");
}

void StopTokenOfAVerifyLane(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(6);
  const Tokens plain = driver.Plain(prompt, 8);
  Lane lane = driver.VerifyLane(driver.Start(prompt), plain, kGreedy);
  lane.stop_tokens = {plain[3]};
  const LaneEvent event = driver.Run(lane);
  const auto first = std::find(plain.begin(), plain.end(), plain[3]);
  ExpectEq(event.finish_reason, FinishReason::kStopToken, "finish reason");
  ExpectEq(driver.Out(event), Tokens(plain.begin(), first + 1), "what was drawn");
}

void ContextIsFull(Context& context) {
  Driver driver(context);
  const uint64_t most = driver.facts().context_tokens;
  if (most > 200'000) Skip("the context is too long to be filled here");
  SequenceId sequence = kNew;
  uint64_t position = 0;
  while (position + 8 < most) {
    const size_t count = std::min<uint64_t>(4096, most - 8 - position);
    const LaneEvent event = driver.Run(driver.PrefillLane(sequence, driver.Prompt(count)));
    sequence = event.sequence;
    position += count;
    ExpectEq(event.position, position, "position");
  }
  const LaneEvent event = driver.Run(driver.DecodeLane(sequence, {}, 100));
  ExpectEq(event.finish_reason, FinishReason::kLength, "a decode up to the end of the context");
  ExpectEq(event.position, most, "position");
  ExpectEq(driver.Out(event).size(), size_t{8}, "tokens drawn");
}

void LogitsAreOrdered(Context& context) {
  Driver driver(context);
  for (const LaneKind kind : {LaneKind::kPrefill, LaneKind::kDecode}) {
    Lane lane = driver.DecodeLane(kNew, driver.Prompt(7), kind == LaneKind::kDecode ? 3 : 0);
    lane.kind = kind;
    lane.want_logits = true;
    const auto logits = driver.Logits(driver.Run(lane));
    Expect(!logits.empty() && logits.size() <= 32, "not 1 to 32 logits");
    for (size_t i = 0; i < logits.size(); ++i) {
      Expect(logits[i].first < driver.facts().vocab_size, "a token outside the vocabulary");
      Expect(std::isfinite(logits[i].second), "a logit that is not finite");
      Expect(i == 0 || logits[i - 1].second >= logits[i].second, "the logits are not in order");
      for (size_t j = 0; j < i; ++j) {
        Expect(logits[i].first != logits[j].first, "a token twice among the logits");
      }
    }
  }
}

void LogitSlotsAreRoundRobin(Context& context) {
  Driver driver(context);
  const auto tick = [&driver] {
    Lane lane = driver.PrefillLane(kNew, driver.Prompt(3));
    lane.want_logits = true;
    LaneEvent event = driver.Run(lane);
    driver.Drop(event.sequence);
    return event;
  };
  const LaneEvent first = tick();
  const auto logits = driver.Logits(first);
  for (int i = 0; i < 31; ++i) tick();
  Expect(driver.Logits(first) == logits, "the logits of 31 ticks ago are gone");
}

}  // namespace

void AddLaneChecks(std::vector<Check>& checks) {
  const auto add = [&checks](const char* ids, const char* title, void (*run)(Context&)) {
    checks.push_back({ids, title, run, {"tick"}});
  };
  add("TICK-9 TICK-10 STRAT-5", "handles that do not exist", UnknownHandles);
  add("TICK-9 TICK-11", "tokens outside the vocabulary", WrongTokens);
  add("TICK-12", "max_tokens out of range", WrongMaxTokens);
  add("TICK-9 TICK-13", "a draw from nothing", DrawFromNothing);
  add("TICK-15 TICK-18", "PREFILL appends", PrefillAppends);
  add("TICK-16 TICK-18 TICK-21", "DECODE draws", DecodeDraws);
  add("TICK-17 TICK-18 DRAW-9", "VERIFY accepts what is right", VerifyAccepts);
  add("TICK-17", "VERIFY with a bound, without drafts, with input", VerifyIsBounded);
  add("TICK-20 TICK-18", "a stop token", StopTokens);
  add("TICK-20 TICK-17", "a stop token among accepted drafts", StopTokenOfAVerifyLane);
  add("TICK-21", "a full context", ContextIsFull);
  add("TICK-22", "logits are pairs, in order", LogitsAreOrdered);
  add("TICK-22 RING-9", "logits slots are used round robin", LogitSlotsAreRoundRobin);
}

}  // namespace superfluid::conformance
