// State calls in general: listed or UNSUPPORTED, one answer each, in order.

#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"

namespace superfluid::conformance {
namespace {

constexpr SequenceId kNone{987654321};

using Request = linkw::DriverMessage;

Request Call(linkw::StateSyncCall call) { return linkw::StateSyncRequest{std::move(call)}; }

// A request of each call, by its name in the capabilities, with handles that do not exist.
std::vector<std::pair<std::string, Request>> Requests() {
  linkw::Transcribe transcribe;
  transcribe.audio = linkw::AudioPath{"/nothing/there"};
  return {
      {"transcribe", Call(transcribe)},
      {"tick", linkw::TickSubmit{}},
      {"match", linkw::MatchRequest{}},
      {"seed", linkw::SeedAcquire{}},
      {"state_ops", linkw::StateOpSubmit{linkw::Snapshot{.sequence = kNone}}},
      {"strategy", linkw::StrategyRegister{}},
      {"fork", Call(linkw::Fork{.parent = kNone})},
      {"trim", Call(linkw::Trim{.sequence = kNone})},
      {"export_size", Call(linkw::ExportSize{.sequence = kNone})},
      {"cache_evict", Call(linkw::CacheEvict{})},
      {"cache_evict_entries", Call(linkw::CacheEvictEntries{})},
      {"snapshot_boundary", Call(linkw::SnapshotBoundary{.sequence = kNone})},
      {"lane_sequence", Call(linkw::LaneSequence{linkw::LaneTag(987654321)})},
      {"create_sequence", Call(linkw::CreateSequence{})},
      {"free_sequence", Call(linkw::FreeSequence{kNone})},
      {"create_grammar", Call(linkw::CreateGrammar{"{}"})},
      {"create_grammar_structural", Call(linkw::CreateGrammarStructural{"{}"})},
      {"free_grammar", Call(linkw::FreeGrammar{linkw::GrammarHandle(987654321)})},
      {"create_logit_bias", Call(linkw::CreateLogitBias{})},
      {"free_logit_bias", Call(linkw::FreeLogitBias{linkw::LogitBiasHandle(987654321)})},
      {"embed", Call(linkw::Embed{{0}})},
      {"lora_load", Call(linkw::LoraLoad{"/nothing/there"})},
      {"lora_unload", Call(linkw::LoraUnload{})},
      {"lora_id", Call(linkw::GetLoraId{})},
      {"capabilities", Call(linkw::Capabilities{})},
      {"forward_stage", Call(linkw::ForwardStage{})},
      {"media_probe", Call(linkw::MediaProbe{"/nothing/there"})},
      {"media_encode", Call(linkw::MediaEncode{"/nothing/there"})},
      {"media_release", Call(linkw::MediaRelease{linkw::MediaHandle(987654321)})},
      {"media_bind", Call(linkw::MediaBind{.media_handle = linkw::MediaHandle(987654321)})},
      {"adopt_sequence", Call(linkw::AdoptSequence{.sequence = kNone})},
      {"publish_sequence", Call(linkw::PublishSequence{.sequence = kNone})},
      {"unpublish", Call(linkw::Unpublish{})},
  };
}

// The worker serves CAPABILITIES itself, whatever the engine lists.
void ListedOrUnsupported(Context& context, const std::string& name, const Request& request) {
  Driver driver(context);
  Request sent = request;
  if (auto* strategy = std::get_if<linkw::StrategyRegister>(&sent)) {
    strategy->strategy_id = context.StrategyId();
  }
  const auto [status, text] = driver.Outcome(driver.Send(sent));
  const bool listed = context.facts().Has(name) || name == "capabilities";
  if (listed != (status != Status::kUnsupported)) {
    Fail(absl::StrCat("\"", name, "\" is ", listed ? "" : "not ", "listed, and answers ",
                      Show(status), " ", Show(text)));
  }
  driver.Ping();
}

void UnknownHandles(Context& context) {
  Driver driver(context);
  const std::vector<std::pair<std::string, Request>> requests = Requests();
  for (const auto& [name, request] : requests) {
    if (!driver.facts().Has(name)) continue;
    const bool by_handle = name == "fork" || name == "free_sequence" || name == "free_grammar" ||
                           name == "free_logit_bias" || name == "media_release" ||
                           name == "media_bind" || name == "adopt_sequence" ||
                           name == "publish_sequence" || name == "snapshot_boundary" ||
                           name == "trim" || name == "export_size";
    if (by_handle) driver.ExpectRefused(driver.Send(request), {Status::kUnknownHandle}, name);
  }
}

void WithoutACall(Context& context) {
  Driver driver(context);
  driver.ExpectRefused(
      driver.peer().SendFrame(static_cast<uint16_t>(linkw::MessageType::kStateSyncRequest), ""),
      {Status::kUnsupported, Status::kInvalidArgument}, "a STATE_SYNC_REQ without a call");
}

void OneAnswerEach(Context& context) {
  Driver driver(context);
  std::vector<uint64_t> seqs;
  for (int round = 0; round < 5; ++round) {
    for (const auto& [name, request] : Requests()) seqs.push_back(driver.Send(request));
  }
  for (const uint64_t seq : seqs) driver.Outcome(seq);
  driver.Ping();
}

// Made, used and freed, without waiting for an answer: only the order makes it right.
void InOrder(Context& context) {
  Driver driver(context);
  const SequenceId first = driver.Ok<linkw::CreateSequenceResult>(linkw::CreateSequence{}).sequence;
  const SequenceId second =
      driver.Ok<linkw::CreateSequenceResult>(linkw::CreateSequence{}).sequence;
  const Tokens prompt = driver.Prompt(5);
  const uint64_t tick = driver.Submit({driver.DecodeLane(first, prompt, 3)});
  const uint64_t fork = driver.SendCall(linkw::Fork{.parent = first});
  const uint64_t free = driver.SendCall(linkw::FreeSequence{first});
  const uint64_t late = driver.SendCall(linkw::Fork{.parent = first});
  const uint64_t again = driver.SendCall(linkw::FreeSequence{second});
  ExpectEq(driver.Result(tick).status, Status::kOk, "the tick");
  const auto child = driver.peer().Await<linkw::StateSyncResult>(fork);
  ExpectEq(child.status, Status::kOk, "the fork behind the tick");
  driver.ExpectOk(free, "the free");
  driver.ExpectRefused(late, {Status::kUnknownHandle}, "a fork behind the free");
  driver.ExpectOk(again, "the free of the other");
  const SequenceId forked = std::get<linkw::ForkResult>(child.reply).child;
  Tokens drawn = driver.Draw(forked, 3);
  const Tokens plain = driver.Plain(prompt, 6);
  ExpectEq(drawn, Tokens(plain.begin() + 3, plain.end()), "the fork has what the tick drew");
}

// Whichever of the two is first: there is one answer, and it says what happened.
void Cancelled(Context& context) {
  Driver driver(context);
  for (int i = 0; i < 5; ++i) {
    const uint64_t embed = driver.SendCall(linkw::Embed{driver.Prompt(64)});
    driver.Send(linkw::TranscribeCancel{.request_seq = embed});
    const Status status = driver.Outcome(embed).first;
    Expect(status == Status::kOk || status == Status::kCancelled,
           absl::StrCat("a call that was cancelled ends with ", Show(status)));
  }
  driver.Ok<linkw::EmbedResult>(linkw::Embed{driver.Prompt(3)});
  driver.Ping();
}

}  // namespace

void AddCallChecks(std::vector<Check>& checks) {
  for (const auto& [name, request] : Requests()) {
    checks.push_back({"CALL-2 CALL-1", absl::StrCat("\"", name, "\" is listed or UNSUPPORTED"),
                      [name = name, request = request](Context& context) {
                        ListedOrUnsupported(context, name, request);
                      }});
  }
  checks.push_back({"CALL-3 ERR-1", "a request without a call", WithoutACall});
  checks.push_back({"CALL-4 SEQ-9 ERR-1", "handles that do not exist", UnknownHandles});
  checks.push_back({"CALL-1 ALWAYS-1", "five of each call at once", OneAnswerEach});
  checks.push_back({"CALL-6 ALWAYS-1", "calls are cancelled", Cancelled, {"embed"}});
  checks.push_back({"CALL-5 ALWAYS-2",
                    "calls and ticks in order",
                    InOrder,
                    {"tick", "fork", "create_sequence", "free_sequence"}});
}

}  // namespace superfluid::conformance
