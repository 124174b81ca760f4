#include "tests/device/probe_worker.h"

#include "absl/strings/str_cat.h"
#include "tests/conformance/check.h"
#include "tests/conformance/show.h"
#include "tests/stress/references.h"

namespace superfluid::device {
namespace {

using conformance::Fail;
using linkw::Status;

std::vector<std::string> CommandLine(const std::string& command, const std::string& socket) {
  std::vector<std::string> words = conformance::SplitCommand(command);
  words.insert(words.end(), {"--listen", socket});
  return words;
}

template <typename T>
T Must(absl::StatusOr<T> value, const std::string& what) {
  if (!value.ok()) Fail(absl::StrCat(what, ": ", value.status().ToString()));
  return *std::move(value);
}

}  // namespace

ProbeWorker::ProbeWorker(const std::string& command, const std::string& folder,
                         const std::string& name)
    : log_(absl::StrCat(folder, "/", name, ".log")),
      process_(CommandLine(command, absl::StrCat(folder, "/", name, ".sock")), log_),
      link_(Must(stress::SoakLink::Open(absl::StrCat(folder, "/", name, ".sock"), tally_),
                 absl::StrCat("the worker '", command, "' (see ", log_, ")"))) {}

ProbeWorker::~ProbeWorker() = default;

void ProbeWorker::NeedTicks() const {
  if (!link_->Has("tick")) Fail("the worker's engine draws no tokens");
}

Tokens ProbeWorker::RandomTokens(std::mt19937_64& random, size_t count) const {
  Tokens tokens(count);
  for (linkw::Token& token : tokens) {
    token = static_cast<linkw::Token>(random() % facts().vocab_size);
  }
  return tokens;
}

linkw::TickResult ProbeWorker::Tick(std::vector<linkw::Lane> lanes,
                                    const std::vector<Tokens>& inputs, uint64_t deadline_us) {
  linkw::TickPlan plan{.tick_id = ++last_tick_, .deadline_us = deadline_us};
  plan.lanes = std::move(lanes);
  for (size_t i = 0; i < plan.lanes.size(); ++i) {
    plan.lanes[i].lane_tag = linkw::LaneTag{i + 1};
    plan.lanes[i].input = Must(link_->rings().WriteTokens(inputs[i]), "input");
  }
  auto result = stress::RunTick(*link_, plan);
  if (!result || tally_.failed()) Fail(absl::StrCat("a tick: ", tally_.Summary()));
  return *std::move(result);
}

std::vector<linkw::LaneEvent> ProbeWorker::RunLanes(std::vector<linkw::Lane> lanes,
                                                    const std::vector<Tokens>& inputs) {
  linkw::TickResult result = Tick(std::move(lanes), inputs);
  if (result.status != Status::kOk) {
    Fail(absl::StrCat("a tick: ", conformance::Show(result.status), " ", result.message));
  }
  for (const linkw::LaneEvent& lane : result.events.lanes) {
    if (lane.status == Status::kOk) continue;
    Fail(absl::StrCat("a lane: ", conformance::Show(lane.status), " ", lane.message));
  }
  return std::move(result.events.lanes);
}

Tokens ProbeWorker::Draw(const Tokens& prompt, uint32_t count) {
  const auto lanes = RunLanes({{.max_tokens = count}}, {prompt});
  Tokens drawn = Must(link_->rings().ReadTokens(lanes[0].out), "output");
  Free(lanes[0].sequence);
  return drawn;
}

std::vector<linkw::TokenLogit> ProbeWorker::Logits(const Tokens& prompt) {
  const auto lanes = RunLanes({{.kind = linkw::LaneKind::kPrefill, .want_logits = true}}, {prompt});
  auto logits = Must(link_->rings().ReadLogits(lanes[0].logits), "logits");
  Free(lanes[0].sequence);
  return logits;
}

void ProbeWorker::Free(linkw::SequenceId sequence) {
  (void)Must(link_->Call<linkw::FreeSequenceResult>(linkw::FreeSequence{sequence}), "freeing");
}

}  // namespace superfluid::device
