#include "tests/engine/properties/generation_driver.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace superfluid::testing {
namespace {

// Far more steps than any job of a test takes.
constexpr int kMaxSteps = 1'000'000;

// The n-th of the encodings that the space has.
uint32_t PickEncoding(const StateSpace& space, uint64_t pick) {
  std::vector<uint32_t> encodings;
  for (uint32_t bit = 0; bit < 64; ++bit) {
    if (((space.encodings >> bit) & 1U) != 0) encodings.push_back(bit);
  }
  return encodings[pick % encodings.size()];
}

}  // namespace

bool QuietHost::LaneStopped(size_t /*lane*/) { return false; }

void QuietHost::Emit(size_t lane, absl::Span<const Token> tokens) {
  if (emitted.size() <= lane) emitted.resize(lane + 1);
  emitted[lane].insert(emitted[lane].end(), tokens.begin(), tokens.end());
}

absl::StatusOr<LaneResult> GenerationDriver::RunLane(const LaneWork& work) {
  QuietHost host;
  const CancelToken token;
  Tick tick;
  tick.lanes = absl::MakeConstSpan(&work, 1);
  auto results = generation_.RunTick(tick, token, host);
  if (!results.ok()) return results.status();
  if (results->size() != 1) return absl::InternalError("not one result for one lane");
  if (!results->front().status.ok()) return results->front().status;
  return std::move(results->front());
}

LaneWork GenerationDriver::LaneFor(const Script& script, SequenceHandle sequence,
                                   absl::Span<const Token> input, uint32_t draws) {
  LaneWork work;
  work.tag = LaneTag{++last_tag_};
  work.sequence = sequence;
  work.kind = draws == 0 ? LaneKind::kPrefill : LaneKind::kDecode;
  work.input = input;
  work.max_tokens = draws;
  work.sampling = script.sampling;
  work.grammar = script.grammar;
  work.logit_bias = script.bias;
  work.stop_tokens = script.stop_tokens;
  return work;
}

absl::StatusOr<LaneResult> GenerationDriver::Plain(const Script& script) {
  return RunLane(LaneFor(script, SequenceHandle{}, script.prompt, script.draws));
}

absl::Status GenerationDriver::Continue(const Script& script, const std::vector<Token>& drawn,
                                        SequenceHandle sequence, uint64_t position) {
  const uint64_t prompt = script.prompt.size();
  const absl::Span<const Token> input = position < prompt
                                            ? absl::MakeConstSpan(script.prompt).subspan(position)
                                            : absl::Span<const Token>();
  const uint64_t done = position < prompt ? 0 : position - prompt;
  const absl::Span<const Token> expected = absl::MakeConstSpan(drawn).subspan(done);
  // The plain run may have ended before script.draws tokens.
  if (input.empty() && expected.empty()) return absl::OkStatus();
  const auto draws = static_cast<uint32_t>(script.draws - done);
  const auto result = RunLane(LaneFor(script, sequence, input, draws));
  if (!result.ok()) return result.status();
  return SameTokens(result->tokens, expected);
}

absl::Status GenerationDriver::RunJob(StateJob& job) {
  const CancelToken token;
  for (int step = 0; step < kMaxSteps; ++step) {
    const absl::StatusOr<StateJobOutcome> outcome = job.Step({}, token);
    if (!outcome.ok()) return outcome.status();
    if (*outcome == StateJobOutcome::kDone) return absl::OkStatus();
  }
  return absl::InternalError("a state job does not end");
}

absl::StatusOr<StateImage> GenerationDriver::Export(SequenceHandle sequence, SpaceId space,
                                                    TokenRange range, uint32_t encoding,
                                                    bool free_device_copy) {
  const auto provenance = generation_.Provenance(sequence, space, range);
  if (!provenance.ok()) return provenance.status();
  const auto size = generation_.SizeOfExport(sequence, space, range, encoding);
  if (!size.ok()) return size.status();
  StateImage image;
  image.what = {SequenceHandle{}, space, range, encoding, *provenance, !free_device_copy};
  image.bytes.resize(size->bytes);
  auto job = generation_.StartExport({sequence, space, range, encoding, free_device_copy},
                                     absl::MakeSpan(image.bytes));
  if (!job.ok()) return job.status();
  if (absl::Status status = RunJob(**job); !status.ok()) return status;
  if ((*job)->bytes_moved() != size->bytes) return absl::InternalError("bytes_moved is not all");
  return image;
}

absl::Status GenerationDriver::Import(SequenceHandle sequence, const StateImage& image) {
  StateImport what = image.what;
  what.sequence = sequence;
  auto job = generation_.StartImport(what, image.bytes);
  return job.ok() ? RunJob(**job) : job.status();
}

absl::StatusOr<uint64_t> GenerationDriver::CommonBoundary(SequenceHandle sequence, uint64_t cap) {
  for (uint64_t before = cap + 1; before != cap;) {
    before = cap;
    for (const StateSpace& space : generation_.StateSpaces()) {
      const auto boundary = generation_.SnapshotBoundary(sequence, space.id, cap);
      if (!boundary.ok()) return boundary.status();
      if (*boundary > cap) return absl::InternalError("a boundary beyond the cap");
      cap = *boundary;
    }
  }
  return cap;
}

absl::StatusOr<std::vector<StateImage>> GenerationDriver::Snapshot(SequenceHandle sequence,
                                                                   uint64_t end, uint64_t pick) {
  std::vector<StateImage> images;
  for (const StateSpace& space : generation_.StateSpaces()) {
    auto image = Export(sequence, space.id, {0, end}, PickEncoding(space, pick),
                        /*free_device_copy=*/false);
    if (!image.ok()) return image.status();
    images.push_back(*std::move(image));
  }
  return images;
}

absl::StatusOr<SequenceHandle> GenerationDriver::Restore(const std::vector<StateImage>& images) {
  const auto sequence = generation_.CreateSequence();
  if (!sequence.ok()) return sequence.status();
  for (const StateImage& image : images) {
    if (absl::Status status = Import(*sequence, image); !status.ok()) {
      (void)Free(*sequence);
      return status;
    }
  }
  return *sequence;
}

absl::Status GenerationDriver::TrimAll(SequenceHandle sequence, uint64_t new_len) {
  for (const StateSpace& space : generation_.StateSpaces()) {
    absl::Status status = generation_.Trim(sequence, space.id, new_len);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SameTokens(absl::Span<const Token> got, absl::Span<const Token> expected) {
  if (got == expected) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("drew ", absl::StrJoin(got, " "), " instead of ", absl::StrJoin(expected, " ")));
}

}  // namespace superfluid::testing
