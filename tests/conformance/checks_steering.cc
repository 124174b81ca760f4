// What steers drawing: grammars, logit biases.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"

namespace superfluid::conformance {
namespace {

using linkw::GrammarHandle;

constexpr char kSchema[] =
    R"({"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},)"
    R"("required":["n","s"]})";

GrammarHandle MakeGrammar(Driver& driver, const std::string& schema = kSchema) {
  const auto grammar = driver.Ok<linkw::CreateGrammarResult>(linkw::CreateGrammar{schema});
  Expect(grammar.grammar_handle != GrammarHandle{}, "[GRAM-1] the grammar handle 0");
  return grammar.grammar_handle;
}

Lane WithGrammar(Lane lane, GrammarHandle grammar) {
  lane.grammar_handle = grammar;
  return lane;
}

void GrammarsAreMade(Context& context) {
  Driver driver(context);
  const GrammarHandle first = MakeGrammar(driver);
  Expect(MakeGrammar(driver) != first, "two grammars have the same handle");
  for (const char* schema : {R"({"type":"boolean"})", R"({"enum":["a","b"]})",
                             R"({"type":"array","items":{"type":"integer"}})"}) {
    MakeGrammar(driver, schema);
  }
}

void StructuralGrammarsAreMade(Context& context) {
  Driver driver(context);
  const auto result = driver.Call(linkw::CreateGrammarStructural{
      R"({"structures":[{"begin":"<a>","schema":{"type":"object"},"end":"</a>"}],)"
      R"("triggers":["<a"]})"});
  if (result.status == Status::kInvalidArgument) {
    Skip("the engine has tags of another form: " + result.message);
  }
  ExpectEq(result.status, Status::kOk, "a structural grammar");
  const auto handle = std::get<linkw::CreateGrammarResult>(result.reply).grammar_handle;
  Expect(handle != GrammarHandle{}, "the grammar handle 0");
  driver.Ok<linkw::FreeGrammarResult>(linkw::FreeGrammar{handle});
}

void NotJson(Context& context) {
  Driver driver(context);
  for (const char* schema : {"", "{", "no json", "{\"type\":}", "[1,2"}) {
    driver.Refused(linkw::CreateGrammar{schema}, {Status::kInvalidArgument}, "a bad schema");
    if (!driver.facts().Has("create_grammar_structural")) continue;
    driver.Refused(linkw::CreateGrammarStructural{schema}, {Status::kInvalidArgument}, "bad tags");
  }
}

std::string InTags(const std::string& schema) {
  return R"({"structures":[{"begin":"<a>","schema":)" + schema +
         R"(,"end":"</a>"}],"triggers":["<a"]})";
}

void WhatIsNotEnforced(Context& context) {
  Driver driver(context);
  const std::string schema = R"({"type":"string","x-nobody-enforces-this":1})";
  const auto refused = driver.Call(linkw::CreateGrammar{schema});
  ExpectEq(refused.status, Status::kUnsupported, "a schema with an unknown keyword");
  Expect(refused.message.find("x-nobody-enforces-this") != std::string::npos,
         "the message does not name the keyword: " + refused.message);
  for (const char* bad : {R"({"type":"string","minLength":5,"maxLength":3})",
                          R"({"type":"array","items":{"type":"null"},"minItems":2,"maxItems":1})",
                          R"({"type":"integer","minimum":5,"maximum":3})"}) {
    // Bounds of integers may be what the engine lacks.
    driver.Refused(linkw::CreateGrammar{bad}, {Status::kInvalidArgument, Status::kUnsupported},
                   bad);
    if (!driver.facts().Has("create_grammar_structural")) continue;
    driver.Refused(linkw::CreateGrammarStructural{InTags(bad)},
                   {Status::kInvalidArgument, Status::kUnsupported}, bad);
  }
}

void FreedGrammar(Context& context) {
  Driver driver(context);
  const GrammarHandle grammar = MakeGrammar(driver);
  driver.Ok<linkw::FreeGrammarResult>(linkw::FreeGrammar{grammar});
  driver.Refused(linkw::FreeGrammar{grammar}, {Status::kUnknownHandle}, "a grammar freed twice");
  driver.Refused(linkw::FreeGrammar{GrammarHandle{}}, {Status::kUnknownHandle}, "grammar 0");
  driver.ExpectLaneError(WithGrammar(driver.DecodeLane(kNew, driver.Prompt(4), 1), grammar),
                         {Status::kUnknownHandle}, "a lane with a freed grammar");
}

void GrammarConstrains(Context& context) {
  Driver driver(context);
  const GrammarHandle grammar = MakeGrammar(driver);
  int different = 0;
  for (int i = 0; i < 5; ++i) {
    const Tokens prompt = driver.Prompt(10);
    const LaneEvent event = driver.Run(WithGrammar(driver.DecodeLane(kNew, prompt, 12), grammar));
    if (driver.Out(event) != driver.Plain(prompt, 12)) ++different;
    driver.Drop(event.sequence);
  }
  Expect(different > 0, "a grammar changed nothing in five runs");
}

// The same tokens under a grammar, whatever the ticks.
void GrammarGoesOn(Context& context) {
  Driver driver(context);
  const GrammarHandle grammar = MakeGrammar(driver);
  for (int i = 0; i < 10; ++i) {
    const Tokens prompt = driver.Prompt(10);
    const linkw::Sampling sampling = Warm(context.Random(1000));
    const Tokens plain =
        driver.Out(driver.Run(WithGrammar(driver.DecodeLane(kNew, prompt, 16, sampling), grammar)));
    const SequenceId sequence = driver.Start(prompt);
    Tokens drawn;
    while (drawn.size() < plain.size()) {
      const auto count = static_cast<uint32_t>(1 + context.Random(plain.size() - drawn.size()));
      const LaneEvent event =
          driver.Run(WithGrammar(driver.DecodeLane(sequence, {}, count, sampling), grammar));
      const Tokens some = driver.Out(event);
      Expect(!some.empty(), "a decode under a grammar drew nothing");
      drawn.insert(drawn.end(), some.begin(), some.end());
    }
    ExpectEq(drawn, plain, "a decode under a grammar, in several ticks");
  }
}

void GrammarOfAFork(Context& context) {
  Driver driver(context);
  const GrammarHandle grammar = MakeGrammar(driver);
  const Tokens prompt = driver.Prompt(10);
  const linkw::Sampling sampling = Warm(7);
  const Tokens plain =
      driver.Out(driver.Run(WithGrammar(driver.DecodeLane(kNew, prompt, 14, sampling), grammar)));
  const SequenceId parent =
      driver.Run(WithGrammar(driver.DecodeLane(kNew, prompt, 6, sampling), grammar)).sequence;
  const SequenceId child = driver.Ok<linkw::ForkResult>(linkw::Fork{.parent = parent}).child;
  if (plain.size() <= 6) return;
  const Tokens rest(plain.begin() + 6, plain.end());
  for (const SequenceId sequence : {parent, child}) {
    const Lane lane = WithGrammar(
        driver.DecodeLane(sequence, {}, static_cast<uint32_t>(rest.size()), sampling), grammar);
    ExpectEq(driver.Out(driver.Run(lane)), rest, "a decode under a grammar, forked in its middle");
  }
}

linkw::LogitBiasHandle MakeBias(Driver& driver, const Tokens& tokens,
                                const std::vector<float>& values) {
  const auto handle =
      driver.Ok<linkw::CreateLogitBiasResult>(linkw::CreateLogitBias{tokens, values}).handle;
  Expect(handle != linkw::LogitBiasHandle{}, "[BIAS-1] the handle 0");
  return handle;
}

void BiasForcesAndForbids(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(8);
  const Token wanted = driver.Prompt(1)[0];
  Lane lane = driver.DecodeLane(kNew, prompt, 5);
  lane.logit_bias_handle = MakeBias(driver, {wanted}, {1e6f});
  ExpectEq(driver.Out(driver.Run(lane)), Tokens(5, wanted), "a bias of a million");
  const Tokens plain = driver.Plain(prompt, 5);
  lane = driver.DecodeLane(kNew, prompt, 30, Warm(4));
  lane.logit_bias_handle = MakeBias(driver, {plain[0], plain[1]}, {-1e6f, -1e6f});
  for (const Token token : driver.Out(driver.Run(lane))) {
    Expect(token != plain[0] && token != plain[1], "a token with a bias of minus a million");
  }
  lane = driver.DecodeLane(kNew, prompt, 5);
  lane.logit_bias_handle = MakeBias(driver, {}, {});
  ExpectEq(driver.Out(driver.Run(lane)), plain, "an empty bias");
}

void WrongBias(Context& context) {
  Driver driver(context);
  driver.Refused(linkw::CreateLogitBias{{1, 2}, {1.0f}}, {Status::kInvalidArgument},
                 "fewer values than tokens");
  driver.Refused(linkw::CreateLogitBias{{}, {1.0f}}, {Status::kInvalidArgument},
                 "more values than tokens");
  driver.Refused(linkw::CreateLogitBias{{driver.facts().vocab_size}, {1.0f}},
                 {Status::kInvalidArgument}, "a token outside the vocabulary");
}

void FreedBias(Context& context) {
  Driver driver(context);
  const linkw::LogitBiasHandle bias = MakeBias(driver, {1}, {1.0f});
  driver.Ok<linkw::FreeLogitBiasResult>(linkw::FreeLogitBias{bias});
  driver.Refused(linkw::FreeLogitBias{bias}, {Status::kUnknownHandle}, "a bias freed twice");
  Lane lane = driver.DecodeLane(kNew, driver.Prompt(4), 1);
  lane.logit_bias_handle = bias;
  driver.ExpectLaneError(lane, {Status::kUnknownHandle}, "a lane with a freed bias");
}

}  // namespace

void AddSteeringChecks(std::vector<Check>& checks) {
  const std::vector<std::string> grammar = {"tick", "create_grammar", "free_grammar"};
  const std::vector<std::string> bias = {"tick", "create_logit_bias", "free_logit_bias"};
  checks.push_back({"GRAM-1", "grammars from JSON schemas", GrammarsAreMade, grammar});
  checks.push_back({"GRAM-1",
                    "a grammar from structural tags",
                    StructuralGrammarsAreMade,
                    {"create_grammar_structural", "free_grammar"}});
  checks.push_back({"GRAM-2 ERR-1", "what is no JSON", NotJson, grammar});
  checks.push_back({"GRAM-4", "schemas that are not enforced", WhatIsNotEnforced, grammar});
  checks.push_back({"GRAM-3 CALL-4 TICK-10", "a freed grammar", FreedGrammar, grammar});
  checks.push_back({"DRAW-6", "a grammar constrains", GrammarConstrains, grammar});
  checks.push_back({"DRAW-6 DRAW-8", "a grammar over several ticks", GrammarGoesOn, grammar});
  checks.push_back({"DRAW-6 SEQ-3",
                    "a grammar over a fork",
                    GrammarOfAFork,
                    {"tick", "create_grammar", "free_grammar", "fork"}});
  checks.push_back({"BIAS-1 DRAW-5", "a bias forces and forbids", BiasForcesAndForbids, bias});
  checks.push_back({"BIAS-1 BIAS-2 ERR-1", "biases that will not do", WrongBias, bias});
  checks.push_back({"BIAS-3 CALL-4 TICK-10", "a freed bias", FreedBias, bias});
}

}  // namespace superfluid::conformance
