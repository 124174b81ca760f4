#include "tools/bench/tick_path.h"

#include <cstdlib>
#include <utility>
#include <variant>

#include "absl/memory/memory.h"
#include "actors/engine/footprint.h"
#include "protocol/codec/codec.h"
#include "tools/bench/null_engine.h"
#include "tools/bench/tick_contestants.h"

namespace superfluid::bench {

absl::StatusOr<std::unique_ptr<TickPath>> TickPath::Make(size_t lanes) {
  absl::StatusOr<std::unique_ptr<Engine>> engine = MakeNullEngine({});
  if (!engine.ok()) return engine.status();
  absl::StatusOr<std::unique_ptr<TickServer>> server = TickServer::With(*std::move(engine));
  if (!server.ok()) return server.status();
  auto path = absl::WrapUnique(new TickPath(*std::move(server)));
  linkw::TickSubmit first = FirstTick(lanes);
  const linkw::TickResult result = path->server_->Serve(first.plan);
  const absl::StatusOr<linkw::TickSubmit> next = NextTick(std::move(first), result);
  if (!next.ok()) return next.status();
  path->payload_ = linkw::Serialize(linkw::DriverMessage(*next)).payload;
  return path;
}

std::string TickPath::Run() {
  const absl::StatusOr<linkw::DriverMessage> message =
      linkw::ParseDriverMessage(linkw::MessageType::kTickSubmit, payload_);
  if (!message.ok()) std::abort();
  const RequestKey key{LinkId{1}, ++seq_};
  queue_.AddReady(key, WorkClass::kTick,
                  FootprintOf(*message, server_->link(), queue_.SpareFootprint()));
  // The engine's actor asks twice: whether there is work, and which.
  if (!queue_.Next(WorkClass::kTick) || queue_.Next(WorkClass::kTick) != key) std::abort();
  queue_.Begin(key);
  linkw::WorkerMessage result = server_->Serve(std::get<linkw::TickSubmit>(*message).plan);
  queue_.Remove(key);
  linkw::UnfinishedFrame frame = linkw::SerializeFrame(result);
  if (!encoder_.Finish(frame.type, seq_, frame.bytes).ok()) std::abort();
  return std::move(frame.bytes);
}

}  // namespace superfluid::bench
