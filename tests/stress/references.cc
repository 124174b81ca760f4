#include "tests/stress/references.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "protocol/messages/status.h"
#include "tests/conformance/show.h"

namespace superfluid::stress {
namespace {

using linkw::Status;

constexpr size_t kPromptLengths[] = {3, 17, 64, 150, 33, 90};

std::optional<SpeechReference> AskForSpeech(SoakLink& link, const std::string& path) {
  SpeechReference reference{.path = path};
  const absl::Time begin = absl::Now();
  auto reply = link.Call<linkw::TranscribeResult>(
      linkw::Transcribe{.audio = linkw::AudioPath{reference.path}});
  if (!reply.ok()) {
    link.tally().Fail(absl::StrCat("reference of ", path, ": ", reply.status().ToString()));
    return std::nullopt;
  }
  reference.result = *std::move(reply);
  reference.took = absl::Now() - begin;
  return reference;
}

std::optional<DrawReference> AskForDraw(SoakLink& link, std::mt19937_64& random, size_t length,
                                        bool warm) {
  DrawReference reference;
  reference.prompt.reserve(length);
  for (size_t i = 0; i < length; ++i) {
    reference.prompt.push_back(static_cast<linkw::Token>(random() % link.facts().vocab_size));
  }
  if (warm) reference.sampling = {.temperature = 0.9F, .top_p = 0.95F, .seed = random()};
  const auto input = link.rings().WriteTokens(reference.prompt);
  if (!input.ok()) return std::nullopt;
  linkw::TickPlan plan{.tick_id = 1};
  plan.lanes.push_back({.lane_tag = linkw::LaneTag{1},
                        .input = *input,
                        .max_tokens = kDrawn,
                        .sampling = reference.sampling});
  const auto result = RunTick(link, plan);
  if (!result || result->status != Status::kOk || result->events.lanes[0].status != Status::kOk) {
    link.tally().Fail(absl::StrCat("reference of a draw: ",
                                   result ? conformance::Show(result->message) : "no answer"));
    return std::nullopt;
  }
  const linkw::LaneEvent& lane = result->events.lanes[0];
  const auto tokens = link.rings().ReadTokens(lane.out);
  if (!tokens.ok() || tokens->size() != kDrawn) {
    link.tally().Fail("reference of a draw: not all tokens came");
    return std::nullopt;
  }
  reference.tokens = *tokens;
  (void)link.Call<linkw::FreeSequenceResult>(linkw::FreeSequence{lane.sequence});
  return reference;
}

// What the emits of a tick's lanes said, and what their events say.
class EmitCheck {
 public:
  explicit EmitCheck(SoakLink& link) : link_(link) {}

  void OnEmit(const linkw::TickEmit& emit) {
    std::vector<linkw::Token>& tokens = emitted_[emit.lane_tag];
    if (emit.index < tokens.size()) link_.tally().Fail("an emit that goes back");
    tokens.resize(std::max<size_t>(tokens.size(), emit.index), kLost);
    tokens.insert(tokens.end(), emit.tokens.begin(), emit.tokens.end());
  }

  void OnResult(const linkw::TickPlan& plan, const linkw::TickResult& result) {
    if (!emitted_.empty() && (plan.flags & linkw::kTickFlagPartialEmits) == 0) {
      link_.tally().Fail("emits that nobody asked for");
    }
    for (const linkw::LaneEvent& lane : result.events.lanes) {
      if (lane.status == Status::kOk) CheckLane(lane, result.events.dropped_emits > 0);
    }
  }

 private:
  static constexpr linkw::Token kLost = ~linkw::Token{0};  // in an emit that was dropped

  void CheckLane(const linkw::LaneEvent& lane, bool dropped) {
    const auto emitted = emitted_.find(lane.lane_tag);
    if (emitted == emitted_.end()) return;
    const auto out = link_.rings().ReadTokens(lane.out);
    if (!out.ok()) return link_.tally().Fail(absl::StrCat("out: ", out.status().ToString()));
    const std::vector<linkw::Token>& tokens = emitted->second;
    bool same = tokens.size() <= out->size() && (dropped || tokens.size() == out->size());
    for (size_t i = 0; same && i < tokens.size(); ++i) {
      same = tokens[i] == (*out)[i] || (dropped && tokens[i] == kLost);
    }
    if (!same) link_.tally().Fail("emits that differ from the lane's output");
  }

  SoakLink& link_;
  std::map<linkw::LaneTag, std::vector<linkw::Token>> emitted_;
};

}  // namespace

std::vector<linkw::Token> DrawReference::Text(uint64_t from, uint64_t to) const {
  std::vector<linkw::Token> text = prompt;
  text.insert(text.end(), tokens.begin(), tokens.end());
  return {text.begin() + static_cast<std::ptrdiff_t>(from),
          text.begin() + static_cast<std::ptrdiff_t>(to)};
}

std::optional<linkw::TickResult> AwaitTick(SoakLink& link, const linkw::TickPlan& plan,
                                           std::unique_ptr<linkw::ReplyStream> stream) {
  if (stream == nullptr) return std::nullopt;
  EmitCheck emits(link);
  while (true) {
    auto answer = link.Await(*stream);
    if (!answer) {
      link.Leave(std::move(stream));
      return std::nullopt;
    }
    if (const auto* emit = std::get_if<linkw::TickEmit>(&*answer)) {
      emits.OnEmit(*emit);
      continue;
    }
    link.Bury(std::move(stream));
    if (const auto* error = std::get_if<linkw::Error>(&*answer)) {
      return linkw::TickResult{.status = error->status, .message = error->message};
    }
    const auto* result = std::get_if<linkw::TickResult>(&*answer);
    if (result == nullptr) {
      link.tally().Fail("a tick was answered with something else");
      return std::nullopt;
    }
    emits.OnResult(plan, *result);
    return *result;
  }
}

std::optional<linkw::TickResult> RunTick(SoakLink& link, const linkw::TickPlan& plan) {
  return AwaitTick(link, plan, link.Start(linkw::TickSubmit{plan}));
}

bool IsPrefix(const std::vector<linkw::TranscriptSegment>& segments,
              const std::vector<linkw::TranscriptSegment>& reference) {
  return segments.size() <= reference.size() &&
         std::equal(segments.begin(), segments.end(), reference.begin());
}

std::optional<References> AskForReferences(SoakLink& link,
                                           const std::vector<std::string>& recordings, bool greedy,
                                           uint64_t seed) {
  References references;
  std::mt19937_64 random(seed);
  if (link.Has("transcribe")) {
    for (const std::string& path : recordings) {
      auto speech = AskForSpeech(link, path);
      if (!speech) return std::nullopt;
      references.speech.push_back(*std::move(speech));
    }
  }
  if (link.Has("tick")) {
    for (const size_t length : kPromptLengths) {
      auto draw = AskForDraw(link, random, length, !greedy && length % 2 == 0);
      if (!draw) return std::nullopt;
      references.draws.push_back(*std::move(draw));
    }
  }
  return references;
}

}  // namespace superfluid::stress
