// The equalities of drawing: the same tokens, however they are asked for.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"

namespace superfluid::conformance {
namespace {

constexpr int kCases = 25;

linkw::Sampling RandomSampling(Context& context) {
  linkw::Sampling sampling;
  sampling.seed = context.Random(~uint64_t{0});
  if (context.Random(4) == 0) return sampling;  // temperature 0
  sampling.temperature = 0.25f * static_cast<float>(1 + context.Random(6));
  if (context.Random(3) == 0) sampling.top_k = static_cast<uint32_t>(1 + context.Random(50));
  if (context.Random(3) == 0)
    sampling.top_p = 0.5f + 0.05f * static_cast<float>(context.Random(10));
  if (context.Random(3) == 0) sampling.min_p = 0.01f * static_cast<float>(1 + context.Random(20));
  if (context.Random(3) == 0) sampling.repetition_penalty = 1.1f;
  return sampling;
}

// A random plain run that other ways of asking are compared with.
struct Plain {
  Tokens prompt;
  linkw::Sampling sampling;
  Tokens drawn;
};

Plain RandomPlain(Driver& driver) {
  Context& context = driver.context();
  Plain plain{.prompt = driver.Prompt(1 + context.Random(40)), .sampling = RandomSampling(context)};
  plain.drawn =
      driver.Plain(plain.prompt, static_cast<uint32_t>(1 + context.Random(32)), plain.sampling);
  return plain;
}

uint32_t Size(const Tokens& tokens) { return static_cast<uint32_t>(tokens.size()); }

void Again(Context& context) {
  Driver driver(context);
  for (int i = 0; i < kCases; ++i) {
    const Plain plain = RandomPlain(driver);
    ExpectEq(driver.Plain(plain.prompt, Size(plain.drawn), plain.sampling), plain.drawn,
             "the same request again");
  }
}

void OnAnotherLink(Context& context) {
  Plain plain;
  {
    Driver driver(context);
    plain = RandomPlain(driver);
  }
  Driver driver(context);
  ExpectEq(driver.Plain(plain.prompt, Size(plain.drawn), plain.sampling), plain.drawn,
           "the same request on the next link");
}

void OtherSeeds(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(8);
  std::set<Tokens> streams;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    linkw::Sampling sampling = Warm(seed);
    sampling.temperature = 2;
    streams.insert(driver.Plain(prompt, 40, sampling));
  }
  Expect(streams.size() >= 7, absl::StrCat("eight seeds gave ", streams.size(), " streams"));
}

void GreedyIsTheFirstLogit(Context& context) {
  Driver driver(context);
  for (int i = 0; i < kCases; ++i) {
    Lane lane = driver.PrefillLane(kNew, driver.Prompt(1 + context.Random(30)));
    lane.want_logits = true;
    const LaneEvent event = driver.Run(lane);
    const auto logits = driver.Logits(event);
    Expect(!logits.empty(), "no logits");
    Token likely = logits[0].first;
    for (const auto& [token, logit] : logits) {
      if (logit == logits[0].second) likely = std::min(likely, token);
    }
    ExpectEq(driver.Draw(event.sequence, 1), Tokens{likely}, "the token drawn at temperature 0");
    driver.Drop(event.sequence);
  }
}

void TopOneIsGreedy(Context& context) {
  Driver driver(context);
  for (int i = 0; i < 10; ++i) {
    const Tokens prompt = driver.Prompt(1 + context.Random(30));
    linkw::Sampling top_one = Warm(context.Random(1000));
    top_one.top_k = 1;
    ExpectEq(driver.Plain(prompt, 20, top_one), driver.Plain(prompt, 20), "top_k 1");
  }
}

void ChunkedPrefill(Context& context) {
  Driver driver(context);
  for (int i = 0; i < kCases; ++i) {
    const Plain plain = RandomPlain(driver);
    SequenceId sequence = kNew;
    for (size_t at = 0; at < plain.prompt.size();) {
      const size_t count = 1 + context.Random(plain.prompt.size() - at);
      const auto from = plain.prompt.begin() + static_cast<int64_t>(at);
      sequence =
          driver.Run(driver.PrefillLane(sequence, Tokens(from, from + static_cast<int64_t>(count))))
              .sequence;
      at += count;
    }
    ExpectEq(driver.Draw(sequence, Size(plain.drawn), plain.sampling), plain.drawn,
             "a prefill in chunks");
    driver.Drop(sequence);
  }
}

void SplitTicks(Context& context) {
  Driver driver(context);
  for (int i = 0; i < kCases; ++i) {
    const Plain plain = RandomPlain(driver);
    const SequenceId sequence = driver.Start(plain.prompt);
    Tokens drawn;
    while (drawn.size() < plain.drawn.size()) {
      const uint64_t count = 1 + context.Random(plain.drawn.size() - drawn.size());
      const Tokens some = driver.Draw(sequence, static_cast<uint32_t>(count), plain.sampling);
      drawn.insert(drawn.end(), some.begin(), some.end());
    }
    ExpectEq(drawn, plain.drawn, "a decode in several ticks");
    driver.Drop(sequence);
  }
}

void Verified(Context& context) {
  Driver driver(context);
  for (int i = 0; i < kCases; ++i) {
    const Plain plain = RandomPlain(driver);
    const SequenceId sequence = driver.Start(plain.prompt);
    Tokens drawn;
    while (drawn.size() < plain.drawn.size()) {
      // Some right drafts, some random ones.
      Tokens drafts(plain.drawn.begin() + static_cast<int64_t>(drawn.size()), plain.drawn.end());
      drafts.resize(std::min<size_t>(drafts.size(), context.Random(5)));
      for (size_t wrong = context.Random(3); wrong > 0; --wrong) {
        drafts.push_back(static_cast<Token>(context.Random(driver.facts().vocab_size)));
      }
      Lane lane = driver.VerifyLane(sequence, drafts, plain.sampling);
      lane.max_tokens =
          std::min(lane.max_tokens, static_cast<uint32_t>(plain.drawn.size() - drawn.size()));
      const Tokens some = driver.Out(driver.Run(lane));
      Expect(!some.empty(), "a verify lane drew nothing");
      drawn.insert(drawn.end(), some.begin(), some.end());
    }
    ExpectEq(drawn, plain.drawn, "a decode by verify lanes");
    driver.Drop(sequence);
  }
}

void SideBySide(Context& context) {
  Driver driver(context);
  const size_t count = std::min<size_t>(16, driver.ack().limits.max_lanes);
  std::vector<Plain> plains;
  std::vector<Lane> lanes;
  for (size_t i = 0; i < count; ++i) {
    plains.push_back(RandomPlain(driver));
    lanes.push_back(
        driver.DecodeLane(kNew, plains[i].prompt, Size(plains[i].drawn), plains[i].sampling));
  }
  const linkw::TickEvents events = driver.Tick(lanes);
  for (size_t i = 0; i < count; ++i) {
    ExpectEq(driver.Out(events.lanes[i]), plains[i].drawn, "a lane among others");
  }
}

}  // namespace

void AddDrawChecks(std::vector<Check>& checks) {
  const auto add = [&checks](const char* ids, const char* title, void (*run)(Context&)) {
    checks.push_back({ids, title, run, {"tick"}, Pace::kAny, 40});
  };
  add("DRAW-2", "the same request again", Again);
  add("DRAW-2", "the same request on another link", OnAnotherLink);
  add("DRAW-3", "other seeds", OtherSeeds);
  add("DRAW-1 TICK-22", "temperature 0 draws the first logit", GreedyIsTheFirstLogit);
  add("DRAW-4", "top_k 1 is temperature 0", TopOneIsGreedy);
  add("DRAW-7", "a prefill in chunks", ChunkedPrefill);
  add("DRAW-8", "a decode in several ticks", SplitTicks);
  add("DRAW-9", "a decode by verify lanes", Verified);
  add("DRAW-11", "lanes side by side", SideBySide);
}

}  // namespace superfluid::conformance
