#include "engine/sim/sim_world.h"

#include <new>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/sim/sim_drawing.h"

namespace superfluid {
namespace {

constexpr size_t kMaxLeases = 1024;

}  // namespace

SimWorld::SimWorld(const SimOptions& all_options, std::shared_ptr<SimClock> sim_clock)
    : options(all_options.generation),
      slow(all_options.faults.slow),
      stuck(all_options.faults.stuck),
      clock(std::move(sim_clock)),
      pool(options.pool_blocks),
      cache(kSimBlockBytes),
      leases(cache, handles, {options.ttl_ms, options.ttl_ticks, kMaxLeases}),
      sequences(pool, handles, static_cast<size_t>(options.max_sequences)),
      grammars(handles, &SimTokenTexts),
      biases(handles, options.vocab),
      media(handles),
      adapter(handles),
      strategies(options.vocab, options.context) {
  pool.set_reclaim([this] { return cache.EvictOne(); });
}

absl::Status SimWorld::Misbehave(const Faults& faults, uint64_t number) {
  const auto now = static_cast<SimStep>(number);
  if (now == faults.slow_at) clock->Spend(slow);
  if (now == faults.stuck_at) clock->Hang(stuck);
  if (now == faults.throw_at) throw std::runtime_error("a fault that was asked for");
  if (now == faults.out_of_memory_at) throw std::bad_alloc();
  if (now == faults.fail_at) return absl::InternalError("a failure, as asked for");
  return absl::OkStatus();
}

absl::Status SimWorld::Compute(const CallControl& control) {
  const auto number = static_cast<SimStep>(++calls);
  if (number == options.faults.stuck_at_call) clock->Hang(stuck);
  for (int64_t pass = 0; pass < options.call_passes; ++pass) {
    if (absl::Status status = control.GoOn(); !status.ok()) return status;
    clock->Spend(options.call_pass);
  }
  return control.GoOn();
}

absl::Status CheckSimTokens(const SimWorld& world, absl::Span<const Token> tokens) {
  for (const Token token : tokens) {
    if (token < world.options.vocab) continue;
    return absl::InvalidArgumentError(absl::StrCat("token ", token, " does not exist"));
  }
  return absl::OkStatus();
}

}  // namespace superfluid
