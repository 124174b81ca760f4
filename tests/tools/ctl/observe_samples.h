#ifndef SUPERFLUID_TESTS_TOOLS_CTL_OBSERVE_SAMPLES_H_
#define SUPERFLUID_TESTS_TOOLS_CTL_OBSERVE_SAMPLES_H_

#include <cstdint>

#include "protocol/messages/messages.h"
#include "tools/ctl/commands/top_sample.h"

// What a worker says of itself, for tests of what people are shown.
namespace superfluid::ctl {

inline linkw::MemCounters SampleMemory() {
  return {.allocated_bytes = 3u << 20,
          .host_retained_bytes = 2048,
          .pool_blocks_total = 200,
          .pool_blocks_used = 50,
          .pool_bytes_evictable = 1024,
          .tentative_bytes = 7};
}

inline linkw::Pong SamplePong() {
  linkw::Pong pong;
  pong.queue_depth = 2;
  pong.open_ops = 3;
  pong.open_transcriptions = 4;
  pong.mem = SampleMemory();
  pong.engine_busy_us = 1'000'000;
  pong.engine_state = linkw::EngineState::kBusy;
  pong.engine_steps = 100;
  pong.step_age_us = 1500;
  return pong;
}

inline CounterSample Counters(absl::Duration at, uint64_t tokens) {
  return {at,
          {{"lanes.active", 4},
           {"ticks.done", tokens / 10},
           {"ticks.tokens_in", tokens / 2},
           {"ticks.tokens_out", tokens},
           {"ops.done", 8},
           {"ops.bytes_moved", tokens * 1024},
           {"transcriptions.done", 9},
           {"requests.open", 5},
           {"cancels", 6}}};
}

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TESTS_TOOLS_CTL_OBSERVE_SAMPLES_H_
