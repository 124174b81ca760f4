#include "tools/bench/tick_server.h"

#include <utility>

#include "absl/memory/memory.h"
#include "actors/engine/tick_rings.h"
#include "engine/loader/loader.h"
#include "shm/ring.h"
#include "shm/segment.h"

namespace superfluid::bench {
namespace {

absl::StatusOr<Segment> MakeRing(const RingSpec& spec) {
  const absl::StatusOr<uint64_t> bytes = RingBytes(spec);
  if (!bytes.ok()) return bytes.status();
  return Segment::Create(*bytes, "bench-ring");
}

}  // namespace

absl::StatusOr<std::unique_ptr<TickServer>> TickServer::Load(const std::string& library) {
  absl::StatusOr<std::unique_ptr<Engine>> engine = LoadEngine(library, {});
  if (!engine.ok()) return engine.status();
  return With(*std::move(engine));
}

absl::StatusOr<std::unique_ptr<TickServer>> TickServer::With(std::unique_ptr<Engine> engine) {
  auto server = absl::WrapUnique(new TickServer(std::move(engine)));
  absl::StatusOr<Segment> in = MakeRing(kTokenInRing);
  absl::StatusOr<Segment> out = MakeRing(kTokenOutRing);
  absl::StatusOr<Segment> logits = MakeRing(kLogitsRing);
  for (const absl::Status& status : {in.status(), out.status(), logits.status()}) {
    if (!status.ok()) return status;
  }
  absl::StatusOr<TickRings> rings =
      TickRings::Open(*std::move(in), *std::move(out), *std::move(logits));
  if (!rings.ok()) return rings.status();
  server->link_.rings = *std::move(rings);
  return server;
}

linkw::TickResult TickServer::Serve(const linkw::TickPlan& plan) {
  return TickRun(*engine_->generation(), engine_->info(), link_, space_, plan, no_emits_,
                 no_progress_)
      .Run(token_);
}

}  // namespace superfluid::bench
