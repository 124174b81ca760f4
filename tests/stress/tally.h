#ifndef SUPERFLUID_TESTS_STRESS_TALLY_H_
#define SUPERFLUID_TESTS_STRESS_TALLY_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace superfluid::stress {

// What a run saw: how often which outcome happened, how long things took, and what was wrong.
// Thread-safe.
class Tally {
 public:
  // `what`: a name such as "speech.cancelled"; the part before the dot groups the summary.
  void Count(std::string_view what, uint64_t times = 1);
  void Time(std::string_view what, absl::Duration latency);
  // Something that must not be. The first few are kept with their text.
  void Fail(std::string message);

  bool failed() const;
  uint64_t Of(std::string_view what) const;
  // Fails the run for each of these outcomes that never happened.
  void Require(const std::vector<std::string>& outcomes);

  // "speech 120, live 9, tick 400": the sums of the groups, in one line.
  std::string Progress() const;
  // A table of all counts, the latencies (median, p99, most) and the failures.
  std::string Summary() const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, uint64_t, std::less<>> counts_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<absl::Duration>, std::less<>> times_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> failures_ ABSL_GUARDED_BY(mutex_);
  uint64_t failed_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace superfluid::stress

#endif  // SUPERFLUID_TESTS_STRESS_TALLY_H_
