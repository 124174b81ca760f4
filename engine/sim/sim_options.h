#ifndef SUPERFLUID_ENGINE_SIM_SIM_OPTIONS_H_
#define SUPERFLUID_ENGINE_SIM_SIM_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/engine.h"
#include "engine/options/option_table.h"
#include "engine/sim/sim_clock.h"

namespace superfluid {

// A step of a job is counted from 1; 0 means never.
using SimStep = int64_t;

// The misbehaviour asked for, for one job.
struct SimFaults {
  SimStep stuck_at_step = 0;                // hangs, deaf to cancels
  absl::Duration stuck = absl::Seconds(5);  // "stuck_ms": for so long at most, [0, 1 hour]
  SimStep slow_at_step = 0;
  absl::Duration slow = absl::ZeroDuration();  // "slow_us": extra time of that step, [0, 1 hour]
  SimStep crash_at_step = 0;                   // SIGSEGV
  SimStep fail_at_step = 0;                    // Internal
  SimStep throw_at_step = 0;                   // std::runtime_error
  SimStep out_of_memory_at_step = 0;           // std::bad_alloc
  bool fail_start = false;                     // StartTranscription: Internal
  bool emit_after_cancel = false;              // one more segment once the token is set
  bool backwards_times = false;                // each segment starts and ends before the last one
  bool invalid_utf8 = false;                   // in the text of segments and words
};

// The misbehaviour of ticks, state jobs and calls; each is counted from 1 over the engine's life, 0
// means never. How long "slow" and "stuck" are is said by slow_us and stuck_ms.
struct SimGenerationFaults {
  SimStep slow_at_tick = 0;
  SimStep stuck_at_tick = 0;          // hangs, deaf to cancels
  SimStep fail_at_tick = 0;           // the tick: Internal
  SimStep throw_at_tick = 0;          // std::runtime_error
  SimStep out_of_memory_at_tick = 0;  // std::bad_alloc
  SimStep slow_at_op = 0;             // these in the last step of the n-th state job
  SimStep stuck_at_op = 0;
  SimStep fail_at_op = 0;  // Internal; nothing took effect
  SimStep throw_at_op = 0;
  SimStep out_of_memory_at_op = 0;
  SimStep stuck_at_call = 0;  // before the first pass of the n-th call that has a CallControl
  // A tick whose results break the contract of RunTick, in the way that "wrong_result" names:
  // too_many_tokens, bad_token, zero_handle, wrong_sequence, too_many_logits, lane_count.
  SimStep wrong_at_tick = 0;
  std::string wrong_result = "lane_count";
};

// Token generation; of the engine only.
struct SimGenerationOptions {
  uint32_t vocab = 256;                         // token t < 256 is byte t, [256, 65536]
  uint64_t context = 32768;                     // tokens of a sequence, [16, 262144]
  uint64_t pool_blocks = 65536;                 // of 16 tokens, [1, 1048576]
  int64_t max_sequences = 4096;                 // [1, 100000]
  uint64_t ttl_ms = 1000;                       // of a lease, [1, 1 hour]
  uint64_t ttl_ticks = 64;                      // of a lease, [1, 1e9]
  absl::Duration op = absl::ZeroDuration();     // "op_us": a state job takes so long, [0, 1 hour]
  int64_t op_chunk_bytes = int64_t{1} << 20;    // of a state job's step, [1, 1 GiB]
  absl::Duration tick = absl::ZeroDuration();   // "tick_us": time of a tick, [0, 60 s]
  absl::Duration token = absl::ZeroDuration();  // "token_us": and of each draw, [0, 60 s]
  // A call that has a CallControl (embeddings, stages, adapters, media, publishing) computes in so
  // many passes, [0, 1e6], of "call_pass_us" each, [0, 60 s], and looks at the control between.
  int64_t call_passes = 0;
  absl::Duration call_pass = absl::ZeroDuration();
  SimGenerationFaults faults;
};

// One `key=value` per field, the key being the field's name; from --engine-option for every job, or
// from the words "sim:key=value" of a request's prompt for that job alone.
struct SimOptions {
  // Engine only, as is `generation`.
  int max_transcriptions = 64;                 // [1, 100000]
  SimWork work = SimWork::kSleep;              // "work": sleep or busy
  absl::Duration load = absl::ZeroDuration();  // "load_ms": making the engine takes so long, and
                                               // says how far it is, [0, 1 hour]
  bool fail_load = false;                      // and it fails then, [0, 1]
  // Per job.
  int64_t segments = 0;            // end after so many; 0: as many as the audio has. [0, 1e6]
  int64_t segment_ms = 1000;       // audio of one segment, [10, 60000]
  int64_t steps_per_segment = 10;  // equal slices of the segment's audio, [1, segment_ms]
  absl::Duration step = absl::ZeroDuration();  // "step_us": time of one step, [0, 60 s]
  int64_t words = 3;                           // per segment, [0, 1000]
  bool partials = true;             // a partial segment each step, if the request wants them
  std::vector<std::string> script;  // texts of the segments, joined by '|', repeated; empty: from
                                    // the audio
  SimFaults faults;
  SimGenerationOptions generation;
};

// All of them, with their ranges and what they are for.
const OptionTable<SimOptions>& SimOptionTable();

// Errors: InvalidArgument naming the option (unknown; not a number, or out of its range).
absl::StatusOr<SimOptions> ParseSimOptions(const EngineConfig& config);

// `base` changed by what `prompt` asks for. Errors: as above, and for an engine-only option.
absl::StatusOr<SimOptions> WithSimPrompt(SimOptions base, absl::string_view prompt);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_OPTIONS_H_
