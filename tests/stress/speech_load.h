#ifndef SUPERFLUID_TESTS_STRESS_SPEECH_LOAD_H_
#define SUPERFLUID_TESTS_STRESS_SPEECH_LOAD_H_

#include <cstdint>

#include "tests/stress/references.h"
#include "tests/stress/soak_link.h"

namespace superfluid::stress {

// Transcribes files, one after the other, until the link stops: to the end, cancelled at some
// moment, or with a deadline. Checks every answer against its reference.
//
// Outcomes: speech.done, speech.cancelled, speech.cancelled_late (it had finished),
// speech.deadline, speech.deadline_late. Latencies: speech.cancel (from the cancel to the answer),
// speech.cancel_in_worker, speech.took.
void RunSpeechLoad(SoakLink& link, const References& references, uint64_t seed);

// The same with live audio, of which some is cancelled in the middle or falls silent before.
//
// Outcomes: live.done, live.hung_up. Latency: live.hang_up.
void RunLiveLoad(SoakLink& link, uint64_t seed);

}  // namespace superfluid::stress

#endif  // SUPERFLUID_TESTS_STRESS_SPEECH_LOAD_H_
