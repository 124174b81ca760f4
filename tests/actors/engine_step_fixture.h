#ifndef SUPERFLUID_TESTS_ACTORS_ENGINE_STEP_FIXTURE_H_
#define SUPERFLUID_TESTS_ACTORS_ENGINE_STEP_FIXTURE_H_

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "tests/actors/generation_fixture.h"

namespace superfluid {

// A worker of which a test sees what happens while its engine is inside a step.
class EngineStepFixture : public GenerationFixture {
 protected:
  // Calls `hook` inside the engine's next step, once.
  void InsideNextStep(std::function<void()> hook) {
    clock_->inside_step = [this, hook = std::move(hook)] {
      clock_->inside_step = nullptr;
      hook();
    };
  }
  // Runs what can run beside the step that the engine is in.
  void RunBesideTheStep() {
    RunSome(1000);
    ReadAll();
  }
  void LetTimePassInsideTheStep(absl::Duration time) {
    scheduler().advance_time(absl::ToChronoNanoseconds(time));
    RunBesideTheStep();
  }
  // The places of the answers to `seq` among all that arrived, from 0.
  static std::vector<size_t> PlacesOf(Peer& peer, uint64_t seq) {
    std::vector<size_t> places;
    for (size_t i = 0; i < peer.received().size(); ++i) {
      if (peer.received()[i].correlation == seq) places.push_back(i);
    }
    return places;
  }
  template <class T>
  static const T* AnswerTo(Peer& peer, uint64_t seq) {
    for (const Received& received : peer.received()) {
      if (received.correlation != seq) continue;
      if (const T* answer = std::get_if<T>(&received.message)) return answer;
    }
    return nullptr;
  }

  const std::vector<uint32_t> prompt_ = std::vector<uint32_t>(48, 5);
};

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ACTORS_ENGINE_STEP_FIXTURE_H_
