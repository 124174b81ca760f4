#include "tools/bench/tick_contestants.h"

#include <utility>
#include <variant>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace superfluid::bench {
namespace {

constexpr linkw::Sampling kSampling = {.temperature = 0.7F,
                                       .top_k = 40,
                                       .top_p = 0.95F,
                                       .min_p = 0.05F,
                                       .repetition_penalty = 1.1F,
                                       .seed = 0x123456789abc};

// Makes the sequences, and returns the tick that goes on with them.
absl::StatusOr<linkw::TickSubmit> Begin(WireClient& client, size_t lanes) {
  linkw::TickSubmit tick = FirstTick(lanes);
  const absl::StatusOr<linkw::WorkerMessage> answer = client.Request(tick);
  if (absl::Status status = CheckResult(answer); !status.ok()) return status;
  return NextTick(std::move(tick), std::get<linkw::TickResult>(*answer));
}

}  // namespace

linkw::TickSubmit FirstTick(size_t lanes) {
  linkw::TickSubmit tick;
  tick.plan.tick_id = 1;
  tick.plan.lanes.resize(lanes);
  for (size_t i = 0; i < lanes; ++i) {
    linkw::Lane& lane = tick.plan.lanes[i];
    lane.lane_tag = linkw::LaneTag{i + 1};
    lane.max_tokens = 1;
    lane.sampling = kSampling;
    lane.sampling.seed += i;
  }
  return tick;
}

absl::StatusOr<linkw::TickSubmit> NextTick(linkw::TickSubmit tick,
                                           const linkw::TickResult& result) {
  ++tick.plan.tick_id;
  for (size_t i = 0; i < tick.plan.lanes.size(); ++i) {
    const linkw::LaneEvent& event = result.events.lanes.at(i);
    if (event.status != linkw::Status::kOk) {
      return absl::InternalError(absl::StrCat("a lane failed: ", event.message));
    }
    tick.plan.lanes[i].sequence = event.sequence;
  }
  return tick;
}

absl::Status CheckResult(const absl::StatusOr<linkw::WorkerMessage>& answer) {
  if (!answer.ok()) return answer.status();
  if (const auto* const error = std::get_if<linkw::Error>(&*answer)) {
    return absl::InternalError(absl::StrCat("a tick was refused: ", error->message));
  }
  const auto* const result = std::get_if<linkw::TickResult>(&*answer);
  if (result == nullptr) return absl::InternalError("a tick was answered with something else");
  if (result->status == linkw::Status::kOk) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("a tick failed: ", result->message));
}

absl::StatusOr<std::unique_ptr<WireTick>> WireTick::Make(std::string name, WireClient& client,
                                                         size_t lanes) {
  const absl::StatusOr<linkw::TickSubmit> tick = Begin(client, lanes);
  if (!tick.ok()) return tick.status();
  // Once in full, so that what follows need not be looked into.
  if (absl::Status status = CheckResult(client.Request(*tick)); !status.ok()) return status;
  return absl::WrapUnique(
      new WireTick(std::move(name), client, linkw::Serialize(linkw::DriverMessage(*tick)).payload));
}

absl::Status WireTick::RoundTrip() {
  const absl::StatusOr<uint64_t> seq = client_.Send(linkw::MessageType::kTickSubmit, payload_);
  if (!seq.ok()) return seq.status();
  const absl::StatusOr<linkw::Frame> frame = client_.ReceiveAnswer(*seq);
  if (!frame.ok()) return frame.status();
  if (frame->type() == linkw::MessageType::kTickResult) return absl::OkStatus();
  return absl::InternalError("a tick was answered with something else");
}

absl::StatusOr<std::unique_ptr<CodecTick>> CodecTick::Make(std::string name, WireClient& client,
                                                           size_t lanes) {
  absl::StatusOr<linkw::TickSubmit> tick = Begin(client, lanes);
  if (!tick.ok()) return tick.status();
  return absl::WrapUnique(new CodecTick(std::move(name), client, *std::move(tick)));
}

absl::Status CodecTick::RoundTrip() { return CheckResult(client_.Request(tick_)); }

absl::StatusOr<std::unique_ptr<LibraryTick>> LibraryTick::Make(std::string name,
                                                               const std::string& socket,
                                                               size_t lanes) {
  auto made = absl::WrapUnique(new LibraryTick(std::move(name)));
  linkw::LinkClientOptions options;
  options.client_name = "bench";
  options.wait_for_listener = true;
  absl::StatusOr<std::unique_ptr<linkw::LinkClient>> client =
      linkw::LinkClient::Connect(socket, options);
  if (!client.ok()) return client.status();
  made->client_ = *std::move(client);
  absl::StatusOr<std::unique_ptr<linkw::DriverRings>> rings =
      linkw::DriverRings::Attach(*made->client_);
  if (!rings.ok()) return rings.status();
  made->rings_ = *std::move(rings);
  linkw::TickSubmit first = FirstTick(lanes);
  const absl::StatusOr<linkw::WorkerMessage> answer = made->client_->Request(first);
  if (absl::Status status = CheckResult(answer); !status.ok()) return status;
  absl::StatusOr<linkw::TickSubmit> next =
      NextTick(std::move(first), std::get<linkw::TickResult>(*answer));
  if (!next.ok()) return next.status();
  made->tick_ = *std::move(next);
  return made;
}

}  // namespace superfluid::bench
