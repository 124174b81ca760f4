#include "engine/sampling/strategy_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const StrategyOffer kOffer = {.engine = "e",
                              .architecture = "a",
                              .context_tokens = 100,
                              .vocab_size = 256,
                              .kernel_caps = 0x3,
                              .tap_layers = 4};

StrategySpec Modest() {
  StrategySpec spec;
  spec.rng_contract_version = 1;
  spec.claimed_exactness = 1;
  return spec;
}

std::string Refusal(const StrategySpec& spec) {
  const absl::Status status = CheckStrategyRequirements(spec, kOffer);
  EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status));
  return std::string(status.message());
}

TEST(StrategyIdTest, HasANameAndOptions) {
  const auto plain = ParseStrategyId("x.y");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->name, "x.y");
  EXPECT_THAT(plain->options, IsEmpty());
  const auto id = ParseStrategyId("x:n=3,drafts=0");
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(id->name, "x");
  EXPECT_THAT(id->options, ElementsAre(Pair("n", 3), Pair("drafts", 0)));
}

TEST(StrategyIdTest, OptionsAreNumbers) {
  for (const char* const id : {"x:n", "x:n=", "x:n=two", "x:n=-1", "x:n=4294967296", "x:n=1=2"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseStrategyId(id).status())) << id;
  }
}

TEST(StrategyIdTest, DraftOptionsHaveRanges) {
  uint32_t n = 2;
  uint32_t drafts = 8;
  EXPECT_TRUE(TakeDraftOption("n", 16, n, drafts));
  EXPECT_TRUE(TakeDraftOption("drafts", 64, n, drafts));
  EXPECT_FALSE(TakeDraftOption("n", 17, n, drafts));
  EXPECT_FALSE(TakeDraftOption("n", 0, n, drafts));
  EXPECT_FALSE(TakeDraftOption("drafts", 65, n, drafts));
  EXPECT_FALSE(TakeDraftOption("drafts", 0, n, drafts));
  EXPECT_FALSE(TakeDraftOption("wrong", 1, n, drafts));
  EXPECT_EQ(n, 16U);
  EXPECT_EQ(drafts, 64U);
}

TEST(StrategyCheckTest, WhatIsOfferedIsTaken) {
  StrategySpec spec = Modest();
  EXPECT_EQ(Refusal(spec), "");
  spec.target_archs = {"b", "a"};
  spec.kernel_caps_required = 0x3;
  spec.taps = {{.layer = 3}};
  spec.requirements = {{kRequiresContext, {100}}, {kRequiresVocab, {256}}};
  EXPECT_EQ(Refusal(spec), "");
}

TEST(StrategyCheckTest, WhatIsNotOfferedIsNamed) {
  StrategySpec spec = Modest();
  spec.target_archs = {"b"};
  EXPECT_EQ(Refusal(spec), "the e engine does not have the strategy's architecture");
  spec = Modest();
  spec.kernel_caps_required = 0x4;
  EXPECT_THAT(Refusal(spec), HasSubstr("kernels"));
  spec = Modest();
  spec.rng_contract_version = 0;
  EXPECT_THAT(Refusal(spec), HasSubstr("random number contract"));
  spec = Modest();
  spec.claimed_exactness = 2;
  EXPECT_THAT(Refusal(spec), HasSubstr("exactness"));
  spec = Modest();
  spec.taps = {{.layer = 4}};
  EXPECT_THAT(Refusal(spec), HasSubstr("layer"));
}

TEST(StrategyCheckTest, RequirementsThatAreNotMetOrNotKnown) {
  const StrategyRequirement wrong[] = {{kRequiresContext, {101}},  {kRequiresVocab, {255}},
                                       {kRequiresVocab, {257}},    {kRequiresContext, {}},
                                       {kRequiresContext, {1, 1}}, {3, {1}}};
  for (const StrategyRequirement& requirement : wrong) {
    StrategySpec spec = Modest();
    spec.requirements = {requirement};
    EXPECT_THAT(Refusal(spec), HasSubstr("what the strategy requires"));
  }
}

TEST(StrategyCheckTest, TheCertificateIsOfTheSlot) {
  const StrategyCertificate certificate = ExactCertificate(StrategySlot{7});
  EXPECT_EQ(certificate.cert_id, 7U);
  EXPECT_EQ(certificate.exactness, 1U);
  EXPECT_TRUE(certificate.grammar_allowed && certificate.logit_bias_allowed);
}

}  // namespace
}  // namespace superfluid
