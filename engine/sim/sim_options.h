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
  SimStep fail_at_step = 0;                    // Internal
  SimStep throw_at_step = 0;                   // std::runtime_error
  SimStep out_of_memory_at_step = 0;           // std::bad_alloc
  bool fail_start = false;                     // StartTranscription: Internal
  bool emit_after_cancel = false;              // one more segment once the token is set
  bool backwards_times = false;                // each segment starts and ends before the last one
  bool invalid_utf8 = false;                   // in the text of segments and words
};

// One `key=value` per field, the key being the field's name; from --engine-option for every job, or
// from the words "sim:key=value" of a request's prompt for that job alone.
struct SimOptions {
  // Engine only.
  int max_transcriptions = 64;     // [1, 100000]
  SimWork work = SimWork::kSleep;  // "work": sleep or busy
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
};

// Errors: InvalidArgument naming the option (unknown; not a number, or out of its range).
absl::StatusOr<SimOptions> ParseSimOptions(const EngineConfig& config);

// `base` changed by what `prompt` asks for. Errors: as above, and for an engine-only option.
absl::StatusOr<SimOptions> WithSimPrompt(SimOptions base, absl::string_view prompt);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_OPTIONS_H_
