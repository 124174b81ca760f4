// The host against a plug-in that breaks the rules of generating: a misdeed a test, named for what
// the plug-in does wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/engine/abi/hostile_generation_fixture.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;
using testing::HostileGeneration;
using ::testing::SizeIs;

struct Misdeed {
  const char* mode;
  const char* text;  // in the error
};
void PrintTo(const Misdeed& misdeed, std::ostream* out) { *out << misdeed.mode; }
std::string NameOf(const ::testing::TestParamInfo<Misdeed>& info) { return info.param.mode; }

class HostileGenerationTest : public HostileGeneration,
                              public ::testing::WithParamInterface<Misdeed> {
 protected:
  absl::Status Act() {
    const std::string mode = GetParam().mode;
    if (mode.rfind("tick_", 0) == 0) return Tick2().status();
    // The first word of a misdeed's name says what to call.
    return testing::HostileActions().at(mode.substr(0, mode.find('_')))(generation());
  }
};

TEST_P(HostileGenerationTest, IsInternalAndSaysWhichRule) {
  MustLoad(GetParam().mode);
  absl::Status status = Act();
  // Some things go wrong the second time only.
  if (status.ok()) status = Act();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().text));
  // The engine can still be used, and let go of.
  generation().EndSession();
  EXPECT_THAT(generation().StateSpaces(), SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(Ticks, HostileGenerationTest,
                         ::testing::ValuesIn(std::vector<Misdeed>{
                             {"tick_sets_nothing", "left a result unset"},
                             {"tick_result_unset", "left a result unset"},
                             {"tick_one_token_too_many", "drew 5 tokens where 4"},
                             {"tick_huge_token_count", "drew 18446744073709551615 tokens"},
                             {"tick_token_outside",
                              "drew token 100, which is outside the vocabulary"},
                             {"tick_one_logit_too_many", "reported 33 logits where 32"},
                             {"tick_huge_logit_count", "reported 18446744073709551615 logits"},
                             {"tick_logit_nan", "a logit that is no number"},
                             {"tick_logit_outside", "the logit of token 4294967295"},
                             {"tick_logits_unsorted", "not the most likely first"},
                             {"tick_finish_99", "finished for the reason 99"},
                             {"tick_finish_error_but_ok", "finished for the reason 4"},
                             {"tick_stops_unasked", "stopped a lane that nobody stopped"},
                             {"tick_stop_token_without_token", "with a stop token but drew none"},
                             {"tick_accepts_too_many_drafts", "accepted 5 drafts"},
                             {"tick_position_too_low", "at position 1 after 6"},
                             {"tick_position_too_high", "at position 18446744073709551615"},
                             {"tick_sequence_zero", "handed out 0 as a sequence"},
                             {"tick_sequence_twice", "handed out sequence 77 a second time"},
                             {"tick_lane_code_77", "the status 77"},
                             {"tick_lane_code_negative", "the status -1"},
                             {"tick_emits_other_tokens", "emitted other tokens"},
                             {"tick_emits_more_than_it_drew", "emitted other tokens"},
                             {"tick_tokens_overrun", "wrote past the end"},
                             {"tick_logits_overrun", "wrote past the end"},
                             {"tick_results_overrun", "wrote past the end"},
                             {"tick_message_overrun", "wrote past the end"},
                             {"tick_clobbers", "which is no status code"},
                             {"tick_code_77", "returned 77, which is no status code"},
                             {"tick_cancels_unasked", "cancelled what nobody cancelled"},
                         }),
                         NameOf);

INSTANTIATE_TEST_SUITE_P(Sequences, HostileGenerationTest,
                         ::testing::ValuesIn(std::vector<Misdeed>{
                             {"create_zero", "handed out 0 as a sequence"},
                             {"create_twice", "handed out sequence 77 a second time"},
                             {"create_overrun", "wrote past the end"},
                             {"create_unknown_code", "returned 77, which is no status code"},
                             {"create_negative_code", "returned -3, which is no status code"},
                             {"create_message_overrun", "wrote past the end"},
                             {"fork_zero", "handed out 0"},
                             {"fork_twice", "a second time"},
                             {"fork_is_the_parent", "a second time"},
                             {"lane_sequence_unset", "left its result unset"},
                             {"lane_sequence_stranger", "names sequence 999999, which is none"},
                             {"grammar_zero", "handed out 0 as a grammar"},
                             {"grammar_twice", "handed out grammar 77 a second time"},
                             {"bias_zero", "handed out 0 as a logit bias"},
                             {"bias_twice", "handed out logit bias 77 a second time"},
                         }),
                         NameOf);

INSTANTIATE_TEST_SUITE_P(
    State, HostileGenerationTest,
    ::testing::ValuesIn(std::vector<Misdeed>{
        {"boundary_unset", "left its result unset"},
        {"boundary_beyond_the_cap", "answered 10, which is beyond 9"},
        {"boundary_overrun", "wrote past the end"},
        {"size_unset", "left its result unset"},
        {"size_overrun", "wrote past the end"},
        {"provenance_unset", "left its result unset"},
        {"provenance_overrun", "wrote past the end"},
        {"state_no_job", "returned no job"},
        {"state_outcome_99", "set no known outcome (99)"},
        {"state_outcome_unset", "set no known outcome"},
        {"state_claims_more_bytes", "claims to have moved 101 of 100 bytes"},
        {"state_claims_huge_bytes", "claims to have moved 18446744073709551615 of 100 bytes"},
        {"state_moves_back", "moved 0 bytes after 50"},
        {"state_progress_overrun", "wrote past the end"},
        {"state_code_77", "returned 77, which is no status code"},
        {"state_cancels_unasked", "cancelled what nobody cancelled"},
        {"export_overrun_at_once", "wrote outside of the memory of its export"},
        {"export_overrun", "wrote outside of the memory of its export"},
        {"export_overrun_by_a_page", "wrote outside of the memory of its export"},
        {"export_underrun", "wrote outside of the memory of its export"},
        {"match_one_too_many", "answered for 65 spaces"},
        {"match_huge_count", "answered for 18446744073709551615 spaces"},
        {"match_more_than_asked", "matched 3 of 2 tokens"},
        {"match_same_space", "answered twice for space 0"},
        {"match_overrun", "wrote past the end"},
        {"match_swapped", "answered twice for space 0"},
        {"seed_zero", "handed out 0 as a lease"},
        {"seed_twice", "handed out lease 77 a second time"},
        {"seed_overrun", "wrote past the end"},
        {"adopt_zero", "handed out 0 as a lease"},
        {"adopt_twice", "handed out lease 77 a second time"},
        {"evict_unset", "left its result unset"},
    }),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Model, HostileGenerationTest,
    ::testing::ValuesIn(std::vector<Misdeed>{
        {"embed_cancels", "cancelled what nobody cancelled"},
        {"embed_nan", "a value that is no finite number"},
        {"embed_infinite", "a value that is no finite number"},
        {"embed_huge_count", "has 18446744073709551615 floats"},
        {"embed_always_asks_for_more", "asks for more room each time"},
        {"embed_overrun", "wrote past the end"},
        {"stage_unset", "left its result unset"},
        {"stage_kind_99", "left its result unset"},
        {"stage_token_outside", "drew token 100, which is outside"},
        {"stage_huge_size", "has 18446744073709551615 bytes"},
        {"stage_always_asks_for_more", "asks for more room each time"},
        {"stage_overrun", "wrote past the end"},
        {"stage_result_overrun", "wrote past the end"},
        {"adapter_zero", "left its result unset"},
        {"current_adapter_unset", "left its result unset"},
        {"current_adapter_overrun", "wrote past the end"},
        {"media_zero", "handed out 0 as a medium"},
        {"media_twice", "handed out medium 77 a second time"},
        {"media_unset", "left its result unset"},
        {"media_token_outside", "names token 100, which is outside"},
        {"media_overrun", "wrote past the end"},
        {"strategy_zero", "handed out 0 as a strategy"},
        {"strategy_twice", "handed out strategy 77 a second time"},
        {"strategy_slot_of_a_built_in", "handed out a built-in slot, 2"},
        {"strategy_huge_certificates", "has 18446744073709551615 certificates"},
        {"strategy_huge_identities", "with 18446744073709551615 identities"},
        {"strategy_identities_of_nobody", "identities that are no certificate's"},
        {"strategy_identities_missing", "2 identities, more than there are"},
        {"strategy_identities_wrap", "4294967295 identities, more than there are"},
        {"strategy_huge_spaces", "has 18446744073709551615 state spaces"},
        {"strategy_bad_space", "without a boundary"},
        {"strategy_overrun", "wrote past the end"},
        {"strategy_certificates_overrun", "wrote past the end"},
    }),
    NameOf);

// What is wrong before anything can be asked of the engine.
class HostileDescriptionTest : public HostileGenerationTest {};

TEST_P(HostileDescriptionTest, FailsTheLoading) {
  const absl::Status status = Load(GetParam().mode);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(All, HostileDescriptionTest,
                         ::testing::ValuesIn(std::vector<Misdeed>{
                             {"no_vocabulary", "claims generation but has no vocabulary"},
                             {"lanes_without_generation", "claims lanes but does not run ticks"},
                             {"spaces_one_too_many", "has 65 state spaces; the limit is 64"},
                             {"spaces_huge_count", "has 18446744073709551615 state spaces"},
                             {"spaces_overrun", "wrote past the end"},
                             {"spaces_same_id", "two state spaces with the id 0"},
                             {"spaces_without_raw_form", "without the raw encoding"},
                             {"spaces_without_boundary", "without a boundary"},
                             {"spaces_swapped", "without a boundary"},
                             {"strategies_too_many", "has 18446744073709551615; the limit is 256"},
                             {"strategies_zero_slot", "handed out 0 as a strategy"},
                             {"strategies_same_slot", "handed out strategy 1 a second time"},
                             {"strategies_unnamed", "a strategy without a name"},
                             {"strategies_overrun", "wrote past the end"},
                         }),
                         NameOf);

}  // namespace
}  // namespace superfluid
