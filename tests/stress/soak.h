#ifndef SUPERFLUID_TESTS_STRESS_SOAK_H_
#define SUPERFLUID_TESTS_STRESS_SOAK_H_

#include <sys/types.h>

#include <random>
#include <string>

#include "absl/time/time.h"
#include "protocol/messages/messages.h"
#include "tests/stress/references.h"
#include "tests/stress/soak_link.h"
#include "tests/stress/soak_options.h"
#include "tests/stress/tally.h"

namespace superfluid::stress {

// One run against a worker that listens. Threads: one; loads have their own.
class Soak {
 public:
  Soak(const SoakOptions& options, std::string socket, pid_t pid, std::string folder, Tally& tally);

  // References, then link after link until the time is up. What was wrong is in the tally. Stops
  // early if something was.
  void Run();
  // Has the worker drain and shut down.
  void ShutDown();

 private:
  bool Prepare();
  void RunLink(Ending ending, absl::Duration time);
  // With nothing open: memory is what it was at the start.
  void CheckIdle(bool first);
  std::vector<std::string> Recordings() const;
  void RequireOutcomes();
  void PrintProgress();

  const SoakOptions options_;
  const std::string socket_;
  const pid_t pid_;
  const std::string folder_;
  Tally& tally_;
  std::mt19937_64 random_;
  References references_;
  conformance::Facts facts_;
  linkw::MemCounters idle_;
  absl::Time begin_;
  absl::Time next_line_;
};

}  // namespace superfluid::stress

#endif  // SUPERFLUID_TESTS_STRESS_SOAK_H_
