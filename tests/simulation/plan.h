#ifndef SUPERFLUID_TESTS_SIMULATION_PLAN_H_
#define SUPERFLUID_TESTS_SIMULATION_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace superfluid::simulation {

// One thing that the simulated world does next. All other choices of the action (which link, how
// many lanes, which buffer) are drawn from `draw` when it is carried out, so an action means the
// same after others were taken out of the plan.
enum class ActionKind : uint8_t {
  kConnectDriver,    // connect, HELLO, rings, control segment, some buffers
  kConnectObserver,  // connect, HELLO
  kConnectOddly,     // connect and say nothing, half a HELLO, a wrong HELLO, a second HELLO
  kHangUp,
  kRubbish,        // bytes that break the rules of frames
  kOddMessage,     // a whole frame that the worker must refuse or skip
  kHalfFrame,      // the first bytes of a frame; the rest comes with the link's next frame
  kTick,           // one tick
  kTickBurst,      // many ticks at once
  kCall,           // a state call
  kSeed,           // MATCH, SEED_ACQUIRE, SEED_RELEASE
  kOp,             // a state op
  kTranscribe,     // a request for audio in a buffer, or live
  kAudio,          // live audio, inline or by a buffer span
  kCancel,         // TRANSCRIBE_CANCEL or OP_CANCEL of something, or of everything
  kStopBit,        // set or take back a stop bit
  kStopWord,       // set or take back a stop word
  kAttachBuffer,   // BUF_ATTACH with its descriptor early, late, never or twice
  kLooseFd,        // a descriptor that no message names
  kAllocBuffer,    // BUF_ALLOC
  kReleaseBuffer,  // BUF_RELEASE
  kPing,
  kDrain,
  kReadOrNot,      // the peer stops reading, reads a little, or reads on
  kAdvance,        // time passes
  kPause,          // the process is stopped for a while: time passes and nothing runs
  kActorDies,      // one of the worker's actors ends with an error
  kInsideStep,     // something happens while the engine is inside a step
  kFlood,          // thousands of small requests by a peer that reads no answer
  kKernelRefuses,  // a call for a descriptor or a mapping fails, or all for descriptors do for a
                   // while
  kNoThread,       // no thread can be had for what blocks, or can again
  kHang,           // what blocks hangs, or goes on
};
inline constexpr size_t kActionKinds = static_cast<size_t>(ActionKind::kHang) + 1;

// Returns "TICK_BURST".
std::string_view NameOf(ActionKind kind);

// How long the engine takes for a step that is slow, and for one that hangs.
inline constexpr int64_t kSlowUs = 400'000;
inline constexpr int64_t kStuckMs = 3000;

struct Action {
  ActionKind kind = ActionKind::kAdvance;
  uint32_t draw = 0;      // the seed of its choices
  uint32_t handlers = 0;  // the number of message handlers that run after it
};

// A session of the world with one worker.
struct Plan {
  uint64_t seed = 0;
  std::string profile;  // of which kinds of action there are most
  std::string fault;    // of the engine, as one of its options; empty: none
  std::vector<std::pair<std::string, std::string>> engine_options;  // of the sim engine
  std::vector<Action> actions;
};

// Returns the plan of `seed`: always the same.
Plan MakePlan(uint64_t seed);

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_PLAN_H_
