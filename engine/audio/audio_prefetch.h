#ifndef SUPERFLUID_ENGINE_AUDIO_AUDIO_PREFETCH_H_
#define SUPERFLUID_ENGINE_AUDIO_AUDIO_PREFETCH_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/audio/audio_source.h"
#include "engine/audio/blocking_executor.h"

namespace superfluid {

// What a reader of recordings tells; called on threads of the executor.
struct PrefetchEvents {
  // The recording was opened, or why it was not; once. The source never blocks: Read gives what has
  // been decoded, and is kStarved where that has not kept up.
  std::function<void(absl::StatusOr<std::unique_ptr<AudioSource>>)> opened;
  // A Read that was starved would give something now; once for each such Read.
  std::function<void()> more;
};

struct PrefetchLimits {
  absl::Duration at_start = absl::Seconds(1);  // decoded before the first Read
  absl::Duration most = absl::Seconds(10);     // decoded and not read
};

// Opens and decodes a recording on threads of `executor`, ahead of its reader: `open` and the
// source that it returns are called, and destroyed, nowhere else.
//
//   opening --opened--> filling <--> full        (the reader took half of it: filling again)
//      |                   |          |
//      +-- error: over     +----------+---> at its end: over; source destroyed: closing
//
// Errors: those of BlockingExecutor::Begin; no event follows then. Errors of `opened` and of Read:
// those of `open` and of its source, and ResourceExhausted when there is no memory.
// Threads: any; the source one at a time. Lifetime: what a blocked read holds goes when it returns;
// destroying the source never waits for it.
absl::Status PrefetchAudio(std::shared_ptr<BlockingExecutor> executor,
                           std::function<absl::StatusOr<std::unique_ptr<AudioSource>>()> open,
                           PrefetchEvents events, const PrefetchLimits& limits = {});

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_AUDIO_PREFETCH_H_
