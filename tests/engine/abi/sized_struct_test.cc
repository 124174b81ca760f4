// A host whose structs are shorter than the plug-in's: each ends at a page that cannot be touched,
// so reading or writing a field that it lacks ends the test.
#include "engine/abi/sized_struct.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/sdk/shim.h"
#include "tests/engine/abi/fake_generation.h"

namespace superfluid {
namespace {

using testing::FakeScript;
using ::testing::HasSubstr;

// The first `size` bytes of a T, as the other side allocated it.
template <typename T>
class Older {
 public:
  explicit Older(size_t size, const T& value = {}) : size_(size) {
    pages_ = static_cast<unsigned char*>(
        mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(pages_ + kPage, kPage, PROT_NONE), 0);
    T copy = value;
    copy.struct_size = static_cast<uint32_t>(size);
    std::memcpy(get(), &copy, size);
  }
  Older(const Older&) = delete;
  Older& operator=(const Older&) = delete;
  ~Older() { munmap(pages_, 2 * kPage); }

  T* get() { return reinterpret_cast<T*>(pages_ + kPage - size_); }
  T value() { return CopyIn(get()); }

 private:
  static constexpr size_t kPage = 65536;
  const size_t size_;
  unsigned char* pages_;
};

// The size of a T that ends before the field.
#define WITHOUT(T, field) offsetof(T, field)

TEST(SizedStructTest, WhatIsNotThereIsZero) {
  sfl_lease lease = {0, 7, 1, 2, 3};
  Older<sfl_lease> older(WITHOUT(sfl_lease, ttl_ms), lease);
  const sfl_lease copy = CopyIn(older.get());
  EXPECT_EQ(copy.struct_size, WITHOUT(sfl_lease, ttl_ms));
  EXPECT_EQ(copy.seed, 1U);
  EXPECT_EQ(copy.ttl_ms, 0U);
  EXPECT_EQ(copy.ttl_ticks, 0U);
}

TEST(SizedStructTest, OfALongerStructTheKnownPartIsTaken) {
  const struct {
    sfl_lease known;
    uint64_t later;
  } longer = {{sizeof longer, 0, 1, 2, 3}, 4};
  EXPECT_EQ(CopyIn(&longer.known).struct_size, sizeof(sfl_lease));
  EXPECT_EQ(CopyIn(&longer.known).ttl_ticks, 3U);
}

TEST(SizedStructTest, WritesKeepTheSizeAndWhatThisSideDoesNotKnow) {
  struct {
    sfl_lease known;
    uint64_t later;
  } longer = {{sizeof longer, 0, 1, 2, 3}, 4};
  CopyOut(sfl_lease{1, 9, 8, 7, 6}, &longer.known);
  EXPECT_EQ(longer.known.struct_size, sizeof longer);
  EXPECT_EQ(longer.known.reserved, 9U);
  EXPECT_EQ(longer.known.ttl_ticks, 6U);
  EXPECT_EQ(longer.later, 4U);
}

TEST(SizedStructTest, GarbageSizesTouchNothing) {
  for (const uint32_t size : {0U, 1U, 4U}) {
    sfl_lease lease = {size, 7, 1, 2, 3};
    EXPECT_EQ(CopyIn(&lease).seed, 0U);
    CopyOut(sfl_lease{1, 9, 8, 7, 6}, &lease);
    EXPECT_EQ(lease.reserved, 7U) << size;
  }
}

FakeScript* script = nullptr;

class ScriptedJob : public TranscriptionJob {
 public:
  absl::StatusOr<StepOutcome> Step(const StepBudget& /*budget*/, const CancelToken& /*token*/,
                                   SegmentSink& sink) override {
    TranscribedSegment segment;
    segment.text = "hello";
    sink.OnSegment(segment);
    return StepOutcome::kDone;
  }
  TranscriptionProgress Progress() const override { return {"fr", 1234, 5678}; }
};

class FakeEngine : public Engine {
 public:
  explicit FakeEngine(const EngineConfig& config)
      : generation_(testing::MakeFakeGeneration(*script)) {
    info_.name = "fake";
    info_.version = config.model_path;
    info_.max_lanes = 4;
    info_.vocab_size = 1000;
    info_.max_transcriptions = 1;
    if (config.log) config.log(EngineLogLevel::kInfo, "made");
  }
  const EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override { return "{}"; }
  MemoryCounters Memory() const override {
    MemoryCounters counters;
    counters.allocated_bytes = 11;
    counters.tentative_bytes = 12;
    return counters;
  }
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& params, std::unique_ptr<AudioSource> audio) override {
    script->calls.push_back("transcribe " + params.language + "|" + params.prompt +
                            (audio->IsLive() ? " live" : ""));
    return std::make_unique<ScriptedJob>();
  }
  Generation* generation() override { return generation_.get(); }

 private:
  EngineInfo info_;
  std::unique_ptr<Generation> generation_;
};

absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const EngineConfig& config) {
  return std::make_unique<FakeEngine>(config);
}

sfl_string Text(const char* text) { return {text, std::strlen(text)}; }
uint32_t Never(void* /*user*/) { return 0; }

class OlderHostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    script = &script_;
    Older<sfl_config> config(WITHOUT(sfl_config, model_path), {.device = 1});
    Older<sfl_host> host(WITHOUT(sfl_host, log));
    ASSERT_EQ(table_->create(config.get(), host.get(), &engine_, nullptr), SFL_OK);
  }
  void TearDown() override {
    if (engine_ != nullptr) table_->destroy(engine_);
    script = nullptr;
  }

  std::string LastCall() const { return script_.calls.empty() ? "" : script_.calls.back(); }
  sfl_call Call() const { return {.user = nullptr, .cancelled = &Never}; }

  FakeScript script_;
  const sfl_engine_vtable* const table_ = sdk::PluginVtable<MakeEngine>(SFL_ABI_VERSION);
  sfl_engine* engine_ = nullptr;
  std::vector<uint32_t> tokens_ = {1, 2, 3};
};

TEST_F(OlderHostTest, Descriptions) {
  Older<sfl_engine_info> info(WITHOUT(sfl_engine_info, vocab_size));
  char room[16];
  sfl_output capabilities = {room, sizeof room, 0};
  ASSERT_EQ(table_->describe(engine_, info.get(), &capabilities, nullptr), SFL_OK);
  EXPECT_STREQ(info.value().name, "fake");
  EXPECT_EQ(info.value().generation, 1U);
  EXPECT_EQ(info.value().struct_size, WITHOUT(sfl_engine_info, vocab_size));

  Older<sfl_memory> memory(WITHOUT(sfl_memory, tentative_bytes));
  ASSERT_EQ(table_->memory(engine_, memory.get(), nullptr), SFL_OK);
  EXPECT_EQ(memory.value().allocated_bytes, 11U);
}

TEST_F(OlderHostTest, Transcriptions) {
  Older<sfl_transcription_params> params(WITHOUT(sfl_transcription_params, prompt),
                                         {.language = Text("fr")});
  Older<sfl_audio> audio(WITHOUT(sfl_audio, flags), {.total_us = -1});
  sfl_transcription* job = nullptr;
  ASSERT_EQ(table_->transcription_start(engine_, params.get(), audio.get(), &job, nullptr), SFL_OK);
  EXPECT_EQ(LastCall(), "transcribe fr| live");

  Older<sfl_progress> progress(WITHOUT(sfl_progress, language));
  ASSERT_EQ(table_->transcription_progress(engine_, job, progress.get(), nullptr), SFL_OK);
  EXPECT_EQ(progress.value().audio_total_ms, 5678);

  Older<sfl_step> step(WITHOUT(sfl_step, emit), {.budget_us = 5, .cancelled = &Never});
  uint32_t outcome = 0;
  EXPECT_EQ(table_->transcription_step(engine_, job, step.get(), &outcome, nullptr),
            SFL_UNIMPLEMENTED);
  table_->transcription_free(engine_, job);
}

TEST_F(OlderHostTest, Ticks) {
  script_.tick = [](const Tick& tick, const CancelToken&,
                    TickHost& host) -> absl::StatusOr<std::vector<LaneResult>> {
    EXPECT_EQ(tick.lanes.size(), 1U);
    EXPECT_FALSE(host.LaneStopped(0));
    host.Emit(0, std::vector<Token>{4});
    LaneResult result;
    result.sequence = SequenceHandle{9};
    result.position = 4;
    result.tokens = {4};
    return std::vector<LaneResult>{result};
  };
  uint32_t drawn = 0;
  sfl_lane whole = {.kind = SFL_LANE_DECODE, .input = tokens_.data(), .input_count = 3};
  whole.max_tokens = 1;
  whole.tokens = &drawn;
  whole.token_capacity = 1;
  Older<sfl_lane> lane(WITHOUT(sfl_lane, logits), whole);
  Older<sfl_lane_result> result(WITHOUT(sfl_lane_result, error));
  Older<sfl_tick> tick(WITHOUT(sfl_tick, lane_stopped),
                       {.tick_id = 5,
                        .lanes = lane.get(),
                        .results = result.get(),
                        .lane_count = 1,
                        .lane_stride = WITHOUT(sfl_lane, logits),
                        .result_stride = WITHOUT(sfl_lane_result, error),
                        .cancelled = &Never});
  ASSERT_EQ(table_->run_tick(engine_, tick.get(), nullptr), SFL_OK);
  EXPECT_EQ(drawn, 4U);
  EXPECT_EQ(result.value().position, 4U);
  EXPECT_EQ(result.value().token_count, 1U);
}

TEST_F(OlderHostTest, State) {
  script_.spaces = {StateSpace{}};
  script_.spaces[0].boundary_tokens = 4;
  script_.spaces[0].name = "kv";
  Older<sfl_state_space> space(WITHOUT(sfl_state_space, name));
  sfl_list list = {space.get(), WITHOUT(sfl_state_space, name), 1, 0};
  ASSERT_EQ(table_->state_spaces(engine_, &list, nullptr), SFL_OK);
  EXPECT_EQ(space.value().boundary_tokens, 4U);

  Older<sfl_state_range> range(WITHOUT(sfl_state_range, encoding),
                               {.space = 1, .sequence = 2, .start = 3, .end = 4});
  Older<sfl_export_size> size(WITHOUT(sfl_export_size, sizing_gen));
  ASSERT_EQ(table_->export_size(engine_, range.get(), size.get(), nullptr), SFL_OK);
  EXPECT_EQ(size.value().bytes, 12345U);
  EXPECT_EQ(LastCall(), "size 2 1 3-4 0");
  sfl_digest provenance;
  ASSERT_EQ(table_->provenance(engine_, range.get(), &provenance, nullptr), SFL_OK);
  EXPECT_EQ(LastCall(), "provenance 2 1 3-4");

  Older<sfl_state_import> import(
      WITHOUT(sfl_state_import, provenance),
      {.flags = SFL_IMPORT_REPLACE, .what = {.space = 1, .sequence = 2, .end = 4}});
  sfl_state_job* job = nullptr;
  ASSERT_EQ(table_->import_start(engine_, import.get(), "", 0, &job, nullptr), SFL_OK);
  EXPECT_THAT(LastCall(), HasSubstr("import 2 1 0-4"));

  script_.step = [](const CancelToken&) { return StateJobOutcome::kDone; };
  script_.bytes_moved = 77;
  Older<sfl_state_step> step(sizeof(sfl_state_step), {.budget_us = 6, .cancelled = &Never});
  Older<sfl_state_progress> progress(WITHOUT(sfl_state_progress, bytes_moved));
  ASSERT_EQ(table_->state_step(engine_, job, step.get(), progress.get(), nullptr), SFL_OK);
  EXPECT_EQ(progress.value().outcome, uint32_t{SFL_STATE_DONE});
  table_->state_free(engine_, job);

  // The range lies inside and can not be shorter.
  Older<sfl_state_export> whole(sizeof(sfl_state_export), {.what = {.sequence = 2, .end = 4}});
  ASSERT_EQ(table_->export_start(engine_, whole.get(), nullptr, 0, &job, nullptr), SFL_OK);
  EXPECT_THAT(LastCall(), HasSubstr("export 2 0 0-4"));
  table_->state_free(engine_, job);
}

TEST_F(OlderHostTest, CacheOfPrefixes) {
  Older<sfl_prefix> prefix(WITHOUT(sfl_prefix, media_deps),
                           {.tokens = tokens_.data(), .token_count = 3});
  sfl_list matches = {nullptr, sizeof(sfl_space_match), 0, 0};
  ASSERT_EQ(table_->match(engine_, prefix.get(), &matches, nullptr), SFL_OK);
  EXPECT_EQ(LastCall(), "match [1,2,3] []");

  Older<sfl_lease> lease(WITHOUT(sfl_lease, ttl_ticks));
  ASSERT_EQ(table_->acquire_seed(engine_, prefix.get(), lease.get(), nullptr), SFL_OK);
  EXPECT_EQ(lease.value().ttl_ms, 1000U);

  Older<sfl_evict_policy> policy(WITHOUT(sfl_evict_policy, max_bytes),
                                 {.classes = 3, .protected_bytes = 4});
  uint64_t freed = 0;
  ASSERT_EQ(table_->evict_cache(engine_, 5, policy.get(), &freed, nullptr), SFL_OK);
}

TEST_F(OlderHostTest, Model) {
  script_.stage = Token{5};
  script_.in_call = [](const CallControl& control) { control.Progress(); };
  Older<sfl_call> call(WITHOUT(sfl_call, progress), Call());
  Older<sfl_stage> stage(WITHOUT(sfl_stage, hidden),
                         {.end_layer = 2, .tokens = tokens_.data(), .token_count = 3});
  Older<sfl_stage_result> result(WITHOUT(sfl_stage_result, reserved));
  sfl_output hidden = {nullptr, 0, 0};
  ASSERT_EQ(table_->forward_stage(engine_, stage.get(), call.get(), result.get(), &hidden, nullptr),
            SFL_OK);
  EXPECT_EQ(result.value().token, 5U);

  Older<sfl_media_info> info(WITHOUT(sfl_media_info, preprocess_fp));
  ASSERT_EQ(table_->probe_media(engine_, Text("x"), call.get(), info.get(), nullptr), SFL_OK);
  EXPECT_GT(info.value().token_count, 0U);
  uint64_t media = 0;
  ASSERT_EQ(table_->encode_media(engine_, Text("x"), call.get(), &media, info.get(), nullptr),
            SFL_OK);
}

TEST_F(OlderHostTest, Strategies) {
  script_.strategies = {{StrategySlot{3}, "ngram", "1"}};
  Older<sfl_built_in_strategy> built_in(WITHOUT(sfl_built_in_strategy, impl_version));
  sfl_list list = {built_in.get(), WITHOUT(sfl_built_in_strategy, impl_version), 1, 0};
  ASSERT_EQ(table_->strategies(engine_, &list, nullptr), SFL_OK);
  EXPECT_STREQ(built_in.value().strategy_id, "ngram");

  script_.terms.slot = StrategySlot{4};
  script_.terms.reserved_bytes = 6;
  script_.terms.certificates.resize(1);
  script_.terms.certificates[0].cert_id = 8;
  Older<sfl_strategy_artifact> artifact(WITHOUT(sfl_strategy_artifact, path),
                                        {.role = 2, .byte_size = 9});
  Older<sfl_strategy> strategy(WITHOUT(sfl_strategy, rng_contract_version),
                               {.strategy_id = Text("mine"),
                                .artifacts = artifact.get(),
                                .artifact_count = 1,
                                .artifact_stride = WITHOUT(sfl_strategy_artifact, path)});
  Older<sfl_certificate> certificate(WITHOUT(sfl_certificate, identity_count));
  Older<sfl_strategy_terms> terms(
      WITHOUT(sfl_strategy_terms, identities),
      {.certificates = {certificate.get(), WITHOUT(sfl_certificate, identity_count), 1, 0}});
  ASSERT_EQ(table_->register_strategy(engine_, strategy.get(), terms.get(), nullptr), SFL_OK);
  EXPECT_THAT(LastCall(), HasSubstr("mine"));
  EXPECT_EQ(terms.value().reserved_bytes, 6U);
  EXPECT_EQ(certificate.value().cert_id, 8U);
}

}  // namespace
}  // namespace superfluid
