#include "tools/bench/sim_driver.h"

#include <array>
#include <utility>
#include <variant>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "tools/bench/tick_contestants.h"

namespace superfluid::bench {
namespace {

constexpr int kDraws = 20;  // of a tick; the engine looks between them whether it is to stop

std::string Option(const char* key, int64_t value) { return absl::StrCat(key, "=", value); }

// The tick of one lane that goes on with its sequence.
std::string PayloadOf(const linkw::LaneEvent& event) {
  linkw::TickSubmit tick;
  tick.plan.tick_id = 2;
  tick.plan.lanes.push_back({.lane_tag = event.lane_tag,
                             .sequence = event.sequence,
                             .max_tokens = kDraws,
                             .stop_slot = 1});
  return linkw::Serialize(linkw::DriverMessage(tick)).payload;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SimDriver>> SimDriver::Start(const ScratchFolder& folder,
                                                            const std::string& name,
                                                            absl::Duration step, int lanes) {
  const int64_t step_us = absl::ToInt64Microseconds(step);
  absl::StatusOr<Server> server = StartWorker(
      folder, name, kSimEngine,
      {"--engine-option", Option("step_us", step_us), "--engine-option",
       Option("token_us", step_us / kDraws), "--engine-option", Option("context", 262'144)});
  if (!server.ok()) return server.status();
  auto driver = absl::WrapUnique(new SimDriver(*std::move(server)));
  auto client = WireClient::Connect(driver->server_.socket, linkw::Role::kDriver);
  if (!client.ok()) return client.status();
  driver->client_ = *std::move(client);
  absl::Status status = driver->client_->AttachTickMemory();
  if (status.ok()) status = driver->MakeSequences(lanes);
  if (!status.ok()) return status;
  return driver;
}

absl::Status SimDriver::MakeSequences(int lanes) {
  constexpr std::array<linkw::Token, 3> kPrompt = {1, 2, 3};
  const absl::StatusOr<linkw::TokenSpan> input = client_->WriteInput(kPrompt);
  if (!input.ok()) return input.status();
  linkw::TickSubmit tick = FirstTick(static_cast<size_t>(lanes));
  for (linkw::Lane& lane : tick.plan.lanes) {
    lane.kind = linkw::LaneKind::kPrefill;
    lane.max_tokens = 0;
    lane.input = *input;
  }
  const absl::StatusOr<linkw::WorkerMessage> answer = client_->Request(tick);
  if (absl::Status status = CheckResult(answer); !status.ok()) return status;
  for (const linkw::LaneEvent& event : std::get<linkw::TickResult>(*answer).events.lanes) {
    if (event.status != linkw::Status::kOk) return absl::InternalError(event.message);
    ticks_.push_back(PayloadOf(event));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SimDriver::SendTick(int lane) {
  return client_->Send(linkw::MessageType::kTickSubmit, ticks_.at(static_cast<size_t>(lane)));
}

}  // namespace superfluid::bench
