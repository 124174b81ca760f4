#include "engine/abi/plugin_vtable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "engine/sdk/shim.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Engine>> NoEngine(const EngineConfig&) {
  return absl::NotFoundError("none");
}

class PluginVtableTest : public ::testing::Test {
 protected:
  void ExpectRefused(absl::StatusCode code, const std::string& text) {
    const absl::Status status = ReadVtable(&table_).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }

  sfl_engine_vtable table_ = *sdk::PluginVtable<NoEngine>(SFL_ABI_VERSION);
};

TEST_F(PluginVtableTest, CopiesAWholeTable) {
  const auto copy = ReadVtable(&table_);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(std::memcmp(&*copy, &table_, sizeof table_), 0);
}

TEST_F(PluginVtableTest, RefusesNoTable) {
  EXPECT_EQ(ReadVtable(nullptr).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PluginVtableTest, RefusesAnotherVersion) {
  table_.abi_version = SFL_ABI_VERSION + 1;
  ExpectRefused(absl::StatusCode::kFailedPrecondition,
                "made for version " + std::to_string(SFL_ABI_VERSION + 1));
}

TEST_F(PluginVtableTest, RefusesSizesThatCannotBe) {
  for (const uint32_t size : {0U, 8U, kMinVtableSize - 1, 65537U, ~0U}) {
    table_.struct_size = size;
    ExpectRefused(absl::StatusCode::kInvalidArgument, "claims " + std::to_string(size));
  }
}

// A plug-in that is built against a later header has a longer table.
TEST_F(PluginVtableTest, AcceptsALongerTable) {
  struct Later {
    sfl_engine_vtable known;
    void (*more)();
  };
  Later later = {table_, nullptr};
  later.known.struct_size = sizeof later;
  EXPECT_TRUE(ReadVtable(&later.known).ok());
}

TEST_F(PluginVtableTest, RefusesATableWithoutWhatMustBeThere) {
  const sfl_engine_vtable whole = table_;
  table_.create = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "`create`");
  table_ = whole;
  table_.destroy = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "`destroy`");
  table_ = whole;
  table_.describe = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "`describe`");
}

// A plug-in that is built against an earlier header has a shorter table; what follows it in memory
// is not the table's.
TEST_F(PluginVtableTest, TakesNoFunctionBeyondTheTablesSize) {
  for (const uint32_t size : {kMinVtableSize, kMinVtableSize + 7}) {
    table_.struct_size = size;
    const auto copy = ReadVtable(&table_);
    ASSERT_TRUE(copy.ok()) << copy.status();
    EXPECT_FALSE(HasGeneration(*copy)) << size;
  }
  table_.struct_size = kMinVtableSize + sizeof(void*);
  EXPECT_TRUE(HasGeneration(*ReadVtable(&table_)));
  EXPECT_EQ(ReadVtable(&table_)->strategies, nullptr);
}

TEST_F(PluginVtableTest, RefusesWhatMakesWithoutWhatFrees) {
  const sfl_engine_vtable whole = table_;
  const auto expect_refused = [&](auto sfl_engine_vtable::*function, const std::string& text) {
    table_ = whole;
    table_.*function = nullptr;
    ExpectRefused(absl::StatusCode::kInvalidArgument, text);
  };
  expect_refused(&sfl_engine_vtable::free_sequence, "`run_tick` without `free_sequence`");
  expect_refused(&sfl_engine_vtable::state_free, "`export_start` without `state_step`");
  expect_refused(&sfl_engine_vtable::state_step, "`export_start` without `state_step`");
  expect_refused(&sfl_engine_vtable::release_seed, "`acquire_seed` without `release_seed`");
  expect_refused(&sfl_engine_vtable::free_grammar, "`create_grammar` without `free_grammar`");
  expect_refused(&sfl_engine_vtable::free_logit_bias, "without `free_logit_bias`");
  expect_refused(&sfl_engine_vtable::release_media, "`encode_media` without `release_media`");
}

TEST_F(PluginVtableTest, EachMakerAloneNeedsWhatFrees) {
  const sfl_engine_vtable whole = table_;
  table_.run_tick = nullptr;
  table_.free_sequence = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "`create_sequence` without");
  table_.create_sequence = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "`fork` without");
  table_.fork = nullptr;
  EXPECT_TRUE(ReadVtable(&table_).ok());
  table_ = whole;
  table_.export_start = nullptr;
  table_.state_free = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "`import_start` without");
  table_ = whole;
  table_.acquire_seed = nullptr;
  table_.release_seed = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "`adopt_sequence` without");
  table_ = whole;
  table_.create_grammar = nullptr;
  table_.free_grammar = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "`create_structural_grammar` without");
}

TEST_F(PluginVtableTest, AcceptsNoneOrAllTranscriptionFunctions) {
  table_.memory = nullptr;
  table_.reset = nullptr;
  table_.transcription_start = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "not all");
  table_.transcription_step = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "not all");
  table_.transcription_progress = nullptr;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "not all");
  table_.transcription_free = nullptr;
  EXPECT_TRUE(ReadVtable(&table_).ok());
}

TEST(PluginVtableSdkTest, HasNoTableForAnotherHost) {
  EXPECT_EQ(sdk::PluginVtable<NoEngine>(SFL_ABI_VERSION + 1), nullptr);
}

}  // namespace
}  // namespace superfluid
