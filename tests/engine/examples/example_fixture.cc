#include "tests/engine/examples/example_fixture.h"

#include <utility>

#include "engine/loader/loader.h"

namespace superfluid::testing {

absl::Status ExampleFixture::Load(const EngineConfig& config) {
  auto engine = LoadEngine("engine/examples/libsuperfluid_example.so", config);
  if (!engine.ok()) return engine.status();
  engine_ = *std::move(engine);
  return absl::OkStatus();
}

LaneResult ExampleFixture::Run(const LaneWork& lane) {
  const std::vector<LaneWork> lanes = {lane};
  auto results = generation().RunTick({1, true, lanes}, token_, host_);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? results->at(0) : LaneResult{};
}

SequenceHandle ExampleFixture::Prefilled(const std::vector<Token>& tokens) {
  LaneWork lane;
  lane.kind = LaneKind::kPrefill;
  lane.input = tokens;
  const LaneResult result = Run(lane);
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.position, tokens.size());
  return result.sequence;
}

std::vector<Token> ExampleFixture::Decode(SequenceHandle sequence, uint32_t count) {
  LaneWork lane;
  lane.sequence = sequence;
  lane.max_tokens = count;
  lane.sampling = sampling_;
  const LaneResult result = Run(lane);
  EXPECT_TRUE(result.status.ok()) << result.status;
  return result.tokens;
}

ExampleFixture::Exported ExampleFixture::Export(SequenceHandle sequence, TokenRange range,
                                                bool free_device_copy) {
  Exported exported;
  const auto size = generation().SizeOfExport(sequence, SpaceId{}, range, 0);
  const auto provenance = generation().Provenance(sequence, SpaceId{}, range);
  EXPECT_TRUE(size.ok() && provenance.ok());
  if (!size.ok() || !provenance.ok()) return exported;
  exported.provenance = *provenance;
  exported.bytes.resize(size->bytes);
  auto job = generation().StartExport({sequence, SpaceId{}, range, 0, free_device_copy},
                                      absl::MakeSpan(exported.bytes));
  const absl::Status moved = job.ok() ? RunToEnd(**job) : job.status();
  EXPECT_TRUE(moved.ok()) << moved;
  return exported;
}

absl::Status ExampleFixture::Import(SequenceHandle sequence, TokenRange range,
                                    const Exported& state, bool replace) {
  auto job = generation().StartImport({sequence, SpaceId{}, range, 0, state.provenance, replace},
                                      state.bytes);
  return job.ok() ? RunToEnd(**job) : job.status();
}

std::vector<Token> ExampleFixture::RandomText(size_t at_least, size_t at_most) {
  static const std::string kWords = "the worker asks and engine answers when says stop ";
  std::vector<Token> tokens(at_least + Random(at_most - at_least + 1));
  for (Token& token : tokens) token = static_cast<unsigned char>(kWords[Random(kWords.size())]);
  return tokens;
}

void ExampleFixture::RandomSampling() {
  sampling_ = {};
  sampling_.seed = random_();
  if (Random(4) == 0) return;  // greedy
  sampling_.temperature = 0.25F + static_cast<float>(Random(16)) / 8;
  if (Random(2) == 0) sampling_.top_k = static_cast<uint32_t>(1 + Random(300));
  if (Random(2) == 0) sampling_.top_p = 0.5F + static_cast<float>(Random(8)) / 16;
  if (Random(2) == 0) sampling_.min_p = static_cast<float>(Random(8)) / 32;
  if (Random(2) == 0) sampling_.repetition_penalty = 1 + static_cast<float>(Random(8)) / 8;
}

absl::Status RunToEnd(StateJob& job) {
  const CancelToken token;
  for (int i = 0; i < 100'000; ++i) {
    const absl::StatusOr<StateJobOutcome> outcome = job.Step({}, token);
    if (!outcome.ok()) return outcome.status();
    if (*outcome == StateJobOutcome::kDone) return absl::OkStatus();
  }
  return absl::UnknownError("the job does not end");
}

std::vector<Token> TokensOf(const std::string& text) {
  std::vector<Token> tokens;
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
  return tokens;
}

std::string TextOf(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token token : tokens) {
    text += token < 256 ? std::string(1, static_cast<char>(token)) : "<end>";
  }
  return text;
}

}  // namespace superfluid::testing
