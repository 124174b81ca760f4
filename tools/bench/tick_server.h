#ifndef SUPERFLUID_TOOLS_BENCH_TICK_SERVER_H_
#define SUPERFLUID_TOOLS_BENCH_TICK_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "actors/engine/engine_link.h"
#include "actors/engine/tick_run.h"
#include "actors/engine/tick_space.h"
#include "engine/cancel_token.h"
#include "engine/engine.h"
#include "protocol/messages/tick_messages.h"

namespace superfluid::bench {

// What every peer of the worker does with a tick: the same checks, the same engine and rings of the
// same kind, called straight. What differs between peers is how the tick gets here. Threads: one.
class TickServer {
 public:
  // With the engine of this library, or with one of its own.
  static absl::StatusOr<std::unique_ptr<TickServer>> Load(const std::string& library);
  static absl::StatusOr<std::unique_ptr<TickServer>> With(std::unique_ptr<Engine> engine);

  linkw::TickResult Serve(const linkw::TickPlan& plan);

  const EngineLink& link() const { return link_; }

 private:
  explicit TickServer(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  const std::unique_ptr<Engine> engine_;
  EngineLink link_;
  TickSpace space_;
  CancelToken token_;
  const TickRun::EmitSink no_emits_ = [](const linkw::TickEmit&) {};
  const std::function<void()> no_progress_ = [] {};
};

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_TICK_SERVER_H_
