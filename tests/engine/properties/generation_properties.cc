#include "tests/engine/properties/generation_properties.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid::testing {
namespace {

absl::Status Differs(absl::string_view what) { return absl::InternalError(std::string(what)); }

SamplingParams RandomSampling(CaseRandom& random) {
  SamplingParams sampling;
  if (random.Chance(70)) sampling.temperature = static_cast<float>(random.In(1, 30)) / 10;
  if (random.Chance(40)) sampling.top_k = static_cast<uint32_t>(random.In(1, 60));
  if (random.Chance(40)) sampling.top_p = static_cast<float>(random.In(1, 100)) / 100;
  if (random.Chance(40)) sampling.min_p = static_cast<float>(random.In(1, 50)) / 100;
  if (random.Chance(40)) {
    sampling.repetition_penalty = static_cast<float>(random.In(5, 30)) / 10;
  }
  sampling.seed = random.In(0, UINT64_MAX - 1);
  return sampling;
}

}  // namespace

std::vector<Token> GenerationProperties::Case::tokens() const {
  std::vector<Token> all = script.prompt;
  all.insert(all.end(), drawn.begin(), drawn.end());
  return all;
}

Script GenerationProperties::RandomScript(CaseRandom& random) {
  Script script;
  const uint64_t prompt = random.In(1, limits_.max_prompt);
  for (uint64_t i = 0; i < prompt; ++i) {
    script.prompt.push_back(static_cast<Token>(random.In(0, limits_.vocab - 1)));
  }
  script.draws = static_cast<uint32_t>(random.In(1, limits_.max_draws));
  script.sampling = RandomSampling(random);
  if (!limits_.grammars.empty() && random.Chance(30)) {
    script.grammar = limits_.grammars[random.In(0, limits_.grammars.size() - 1)];
  }
  if (!limits_.biases.empty() && random.Chance(30)) {
    script.bias = limits_.biases[random.In(0, limits_.biases.size() - 1)];
  }
  if (random.Chance(20)) {
    const uint64_t first = random.In(0, limits_.vocab - 16);
    for (uint64_t i = 0; i < 16; ++i) script.stop_tokens.push_back(static_cast<Token>(first + i));
  }
  return script;
}

absl::StatusOr<GenerationProperties::Case> GenerationProperties::PlainCase(CaseRandom& random) {
  Case plain;
  plain.script = RandomScript(random);
  const auto result = driver_.Plain(plain.script);
  if (!result.ok()) return result.status();
  plain.drawn = result->tokens;
  if (plain.drawn.empty()) return Differs("the plain run drew nothing");
  if (result->position != plain.length()) return Differs("the position is not the length");
  if (absl::Status status = driver_.Free(result->sequence); !status.ok()) return status;
  return plain;
}

absl::StatusOr<SequenceHandle> GenerationProperties::MakeUpTo(const Case& plain,
                                                              uint64_t position) {
  if (position == 0) return driver_.generation().CreateSequence();
  const uint64_t input = std::min<uint64_t>(position, plain.script.prompt.size());
  const auto draws = static_cast<uint32_t>(position - input);
  const auto result = driver_.RunLane(
      driver_.LaneFor(plain.script, SequenceHandle{},
                      absl::MakeConstSpan(plain.script.prompt).first(input), draws));
  if (!result.ok()) return result.status();
  if (result->position != position) return Differs("the sequence has another length than asked");
  return result->sequence;
}

absl::Status GenerationProperties::ContinueAndFree(const Case& plain, SequenceHandle sequence,
                                                   uint64_t position) {
  absl::Status status = driver_.Continue(plain.script, plain.drawn, sequence, position);
  status.Update(driver_.Free(sequence));
  return status;
}

absl::Status GenerationProperties::RestoredEqualsPlain(CaseRandom& random) {
  const auto plain = PlainCase(random);
  if (!plain.ok()) return plain.status();
  const auto source = MakeUpTo(*plain, random.In(1, plain->length()));
  if (!source.ok()) return source.status();
  const auto end = driver_.CommonBoundary(*source, random.In(1, plain->length()));
  if (!end.ok()) return end.status();
  const auto images = driver_.Snapshot(*source, *end, random.In(0, 63));
  if (!images.ok()) return images.status();
  if (random.Chance(50)) {
    if (absl::Status status = driver_.Free(*source); !status.ok()) return status;
    const auto restored = driver_.Restore(*images);
    if (!restored.ok()) return restored.status();
    return ContinueAndFree(*plain, *restored, *end);
  }
  const auto restored = driver_.Restore(*images);
  if (!restored.ok()) return restored.status();
  absl::Status status = ContinueAndFree(*plain, *restored, *end);
  status.Update(driver_.Free(*source));
  return status;
}

absl::Status GenerationProperties::RefusesLane(const Case& plain, SequenceHandle sequence) {
  const auto result = driver_.RunLane(driver_.LaneFor(plain.script, sequence, {}, 1));
  if (absl::IsFailedPrecondition(result.status())) return absl::OkStatus();
  return Differs(absl::StrCat("a demoted sequence was drawn from: ", result.status().ToString()));
}

absl::Status GenerationProperties::DemoteAndPromote(CaseRandom& random, SequenceHandle sequence,
                                                    uint64_t length) {
  std::vector<StateImage> images;
  const auto demote = [&](const StateSpace& space, TokenRange range) -> absl::Status {
    auto image = driver_.Export(sequence, space.id, range, /*encoding=*/0,
                                /*free_device_copy=*/true);
    if (!image.ok()) return image.status();
    images.push_back(*std::move(image));
    return absl::OkStatus();
  };
  for (const StateSpace& space : driver_.generation().StateSpaces()) {
    if (space.bytes_per_token == 0 || space.boundary_tokens != 1) {
      if (random.Chance(50)) continue;
      if (absl::Status status = demote(space, {0, length}); !status.ok()) return status;
      continue;
    }
    for (uint64_t at = random.In(0, length - 1); at < length;) {
      const uint64_t end = random.In(at + 1, length);
      if (absl::Status status = demote(space, {at, end}); !status.ok()) return status;
      at = end + random.In(0, 20);
    }
  }
  while (!images.empty()) {
    const size_t next = random.In(0, images.size() - 1);
    absl::Status status = driver_.Import(sequence, images[next]);
    if (!status.ok()) return status;
    images.erase(images.begin() + static_cast<ptrdiff_t>(next));
  }
  return absl::OkStatus();
}

absl::Status GenerationProperties::PromotedEqualsPlain(CaseRandom& random) {
  const auto plain = PlainCase(random);
  if (!plain.ok()) return plain.status();
  const uint64_t position = random.In(1, plain->length());
  const auto sequence = MakeUpTo(*plain, position);
  if (!sequence.ok()) return sequence.status();
  // A copy that shares the state must not notice.
  absl::StatusOr<SequenceHandle> copy = SequenceHandle{};
  if (random.Chance(50)) copy = driver_.generation().Fork(*sequence, 0);
  if (!copy.ok()) return copy.status();
  const StateSpace first = driver_.generation().StateSpaces().front();
  const auto image = driver_.Export(*sequence, first.id, {0, position}, 0, true);
  if (!image.ok()) return image.status();
  absl::Status status = RefusesLane(*plain, *sequence);
  status.Update(driver_.Import(*sequence, *image));
  if (status.ok()) status = DemoteAndPromote(random, *sequence, position);
  if (status.ok()) status = ContinueAndFree(*plain, *sequence, position);
  if (status.ok() && *copy != SequenceHandle{}) status = ContinueAndFree(*plain, *copy, position);
  return status;
}

absl::Status GenerationProperties::ForkedEqualsPlain(CaseRandom& random) {
  const auto plain = PlainCase(random);
  if (!plain.ok()) return plain.status();
  const uint64_t position = random.In(0, plain->length());
  const auto parent = MakeUpTo(*plain, position);
  if (!parent.ok()) return parent.status();
  const auto child = driver_.generation().Fork(*parent, 0);
  if (!child.ok()) return child.status();
  const auto other = driver_.generation().Fork(*child, 0);
  if (!other.ok()) return other.status();
  // One goes another way; none of the others' work may be seen by any.
  const Script script = RandomScript(random);
  const auto went = driver_.RunLane(driver_.LaneFor(script, *other, script.prompt, script.draws));
  if (!went.ok()) return went.status();
  const auto before = driver_.Snapshot(*other, went->position, 0);
  if (!before.ok()) return before.status();
  const bool parent_first = random.Chance(50);
  absl::Status status = ContinueAndFree(*plain, parent_first ? *parent : *child, position);
  status.Update(ContinueAndFree(*plain, parent_first ? *child : *parent, position));
  const auto after = driver_.Snapshot(*other, went->position, 0);
  if (!after.ok()) return after.status();
  for (size_t i = 0; i < before->size(); ++i) {
    if ((*before)[i].bytes != (*after)[i].bytes) status.Update(Differs("a fork's state changed"));
  }
  status.Update(driver_.Free(*other));
  return status;
}

absl::Status GenerationProperties::RedoneEqualsPlain(CaseRandom& random) {
  const auto plain = PlainCase(random);
  if (!plain.ok()) return plain.status();
  const auto sequence = MakeUpTo(*plain, plain->length());
  if (!sequence.ok()) return sequence.status();
  uint64_t position = plain->length();
  absl::StatusOr<SequenceHandle> copy = SequenceHandle{};
  if (random.Chance(50)) copy = driver_.generation().Fork(*sequence, 0);
  if (!copy.ok()) return copy.status();
  for (int cut = 0; cut < 2; ++cut) {
    position = random.In(0, position);
    for (const StateSpace& space : driver_.generation().StateSpaces()) {
      position -= position % space.boundary_tokens;
    }
    if (absl::Status status = driver_.TrimAll(*sequence, position); !status.ok()) return status;
  }
  absl::Status status = ContinueAndFree(*plain, *sequence, position);
  if (status.ok() && *copy != SequenceHandle{}) {
    status = ContinueAndFree(*plain, *copy, plain->length());
  }
  return status;
}

absl::Status GenerationProperties::VerifiedEqualsPlain(CaseRandom& random) {
  const auto plain = PlainCase(random);
  if (!plain.ok()) return plain.status();
  const absl::Span<const Token> drawn = plain->drawn;
  absl::Span<const Token> input = plain->script.prompt;
  SequenceHandle sequence{};
  for (size_t done = 0; done < drawn.size();) {
    std::vector<Token> drafts(drawn.begin() + static_cast<ptrdiff_t>(done), drawn.end());
    drafts.resize(random.In(0, drafts.size()));
    for (Token& draft : drafts) {
      if (random.Chance(20)) draft = static_cast<Token>(random.In(0, limits_.vocab - 1));
    }
    LaneWork work = driver_.LaneFor(plain->script, sequence, input,
                                    static_cast<uint32_t>(random.In(1, drawn.size() - done)));
    work.kind = LaneKind::kVerify;
    work.drafts = drafts;
    const auto result = driver_.RunLane(work);
    if (!result.ok()) return result.status();
    const size_t count = result->tokens.size();
    if (count == 0 || count > std::min<size_t>(work.max_tokens, drafts.size() + 1)) {
      return Differs(absl::StrCat("a verify lane gave ", count, " tokens"));
    }
    absl::Status status = SameTokens(result->tokens, drawn.subspan(done, count));
    if (!status.ok()) return status;
    uint32_t accepted = 0;
    while (accepted < std::min(count, drafts.size()) &&
           drafts[accepted] == result->tokens[accepted]) {
      ++accepted;
    }
    if (result->accepted_drafts != accepted) return Differs("accepted_drafts is wrong");
    sequence = result->sequence;
    input = {};
    done += count;
  }
  return driver_.Free(sequence);
}

absl::Status GenerationProperties::StrategyEqualsPlain(CaseRandom& random) {
  const auto plain = PlainCase(random);
  if (!plain.ok()) return plain.status();
  LaneWork work = driver_.LaneFor(plain->script, {}, plain->script.prompt, plain->script.draws);
  work.strategy = limits_.strategies[random.In(0, limits_.strategies.size() - 1)];
  const auto result = driver_.RunLane(work);
  if (!result.ok()) return result.status();
  absl::Status status = SameTokens(result->tokens, plain->drawn);
  if (result->accepted_drafts > result->tokens.size()) status.Update(Differs("too many accepted"));
  status.Update(driver_.Free(result->sequence));
  return status;
}

absl::Status GenerationProperties::ChunkedEqualsPlain(CaseRandom& random) {
  const auto plain = PlainCase(random);
  if (!plain.ok()) return plain.status();
  const absl::Span<const Token> prompt = plain->script.prompt;
  SequenceHandle sequence{};
  uint64_t done = 0;
  while (done < prompt.size() && random.Chance(90)) {
    const auto chunk = prompt.subspan(done, random.In(0, prompt.size() - done));
    const auto result = driver_.RunLane(driver_.LaneFor(plain->script, sequence, chunk, 0));
    if (!result.ok()) return result.status();
    sequence = result->sequence;
    done += chunk.size();
    if (result->position != done) return Differs("the position is not what was appended");
  }
  if (sequence == SequenceHandle{}) return absl::OkStatus();
  return ContinueAndFree(*plain, sequence, done);
}

absl::Status GenerationProperties::DrawBeside(CaseRandom& random, const std::vector<Case>& plain) {
  std::vector<SequenceHandle> sequences(plain.size());
  std::vector<size_t> done(plain.size());
  const CancelToken token;
  while (true) {
    std::vector<LaneWork> lanes;
    std::vector<size_t> whose;
    for (size_t i = 0; i < plain.size(); ++i) {
      const size_t left = plain[i].drawn.size() - done[i];
      if (left == 0) continue;
      const bool fresh = sequences[i] == SequenceHandle{};
      lanes.push_back(driver_.LaneFor(
          plain[i].script, sequences[i],
          fresh ? absl::MakeConstSpan(plain[i].script.prompt) : absl::Span<const Token>(),
          static_cast<uint32_t>(random.In(1, left))));
      whose.push_back(i);
    }
    if (lanes.empty()) break;
    QuietHost host;
    Tick tick;
    tick.lanes = lanes;
    tick.partial_emits = true;
    const auto results = driver_.generation().RunTick(tick, token, host);
    if (!results.ok()) return results.status();
    host.emitted.resize(lanes.size());
    for (size_t lane = 0; lane < whose.size(); ++lane) {
      const LaneResult& result = (*results)[lane];
      if (!result.status.ok()) return result.status;
      const size_t i = whose[lane];
      const auto rest = absl::MakeConstSpan(plain[i].drawn).subspan(done[i]);
      absl::Status status = SameTokens(result.tokens, rest.first(lanes[lane].max_tokens));
      status.Update(SameTokens(host.emitted[lane], result.tokens));
      if (!status.ok()) return status;
      sequences[i] = result.sequence;
      done[i] += result.tokens.size();
    }
  }
  absl::Status status;
  for (const SequenceHandle sequence : sequences) status.Update(driver_.Free(sequence));
  return status;
}

absl::Status GenerationProperties::SplitTicksEqualPlain(CaseRandom& random) {
  std::vector<Case> plain;
  const uint64_t lanes = random.In(1, 4);
  for (uint64_t i = 0; i < lanes; ++i) {
    auto one = PlainCase(random);
    if (!one.ok()) return one.status();
    plain.push_back(*std::move(one));
  }
  return DrawBeside(random, plain);
}

absl::Status GenerationProperties::FlippedByteShows(CaseRandom& random) {
  Case plain;
  plain.script = RandomScript(random);
  // Nothing that leaves so little choice that other state may give the same.
  plain.script.grammar = {};
  plain.script.bias = {};
  plain.script.stop_tokens.clear();
  plain.script.sampling = {};
  if (random.Chance(50)) plain.script.sampling.temperature = 1;
  plain.script.draws = limits_.max_draws;
  const auto source = driver_.Plain(plain.script);
  if (!source.ok()) return source.status();
  plain.drawn = source->tokens;
  const auto end =
      driver_.CommonBoundary(source->sequence, random.In(1, plain.script.prompt.size()));
  if (!end.ok()) return end.status();
  auto images = driver_.Snapshot(source->sequence, *end, random.In(0, 63));
  if (!images.ok()) return images.status();
  if (absl::Status status = driver_.Free(source->sequence); !status.ok()) return status;
  StateImage& image = (*images)[random.In(0, images->size() - 1)];
  if (image.bytes.empty()) return absl::OkStatus();
  image.bytes[random.In(0, image.bytes.size() - 1)] ^= static_cast<std::byte>(random.In(1, 255));
  const auto restored = driver_.Restore(*images);
  if (!restored.ok()) return absl::OkStatus();
  const absl::Status status = ContinueAndFree(plain, *restored, *end);
  return status.ok() ? Differs("a wrong byte changes nothing") : absl::OkStatus();
}

}  // namespace superfluid::testing
