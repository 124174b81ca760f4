#ifndef SUPERFLUID_TESTS_STRESS_REFERENCES_H_
#define SUPERFLUID_TESTS_STRESS_REFERENCES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "protocol/messages/messages.h"
#include "tests/stress/soak_link.h"

// What the worker answers while it has nothing else to do: what it must answer under load, too.
namespace superfluid::stress {

struct SpeechReference {
  std::string path;  // of an audio file
  linkw::TranscribeResult result;
  absl::Duration took;
};

struct DrawReference {
  std::vector<linkw::Token> prompt;
  linkw::Sampling sampling;
  std::vector<linkw::Token> tokens;  // drawn after it

  // Tokens [from, to) of prompt and drawn tokens together.
  std::vector<linkw::Token> Text(uint64_t from, uint64_t to) const;
  uint64_t size() const { return prompt.size() + tokens.size(); }
};

struct References {
  std::vector<SpeechReference> speech;  // none: the engine has no speech
  std::vector<DrawReference> draws;     // none: the engine has no ticks
};

inline constexpr uint32_t kDrawn = 48;  // tokens of a DrawReference

// Asks for all of them, one after the other. `recordings`: audio files; `greedy`: draws are at
// temperature 0, else half of them are. A failure of any fails the run, and gives nullopt.
std::optional<References> AskForReferences(SoakLink& link,
                                           const std::vector<std::string>& recordings, bool greedy,
                                           uint64_t seed);

// Whether `segments` are what `reference` begins with.
bool IsPrefix(const std::vector<linkw::TranscriptSegment>& segments,
              const std::vector<linkw::TranscriptSegment>& reference);

// The tick's result; its emits are checked on the way and say what the result says. nullopt: the
// link was killed, or the run failed.
std::optional<linkw::TickResult> RunTick(SoakLink& link, const linkw::TickPlan& plan);
// The same for a tick that was sent.
std::optional<linkw::TickResult> AwaitTick(SoakLink& link, const linkw::TickPlan& plan,
                                           std::unique_ptr<linkw::ReplyStream> stream);

}  // namespace superfluid::stress

#endif  // SUPERFLUID_TESTS_STRESS_REFERENCES_H_
