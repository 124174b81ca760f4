#ifndef SUPERFLUID_ENGINE_GENERATION_MISSING_RANGES_H_
#define SUPERFLUID_ENGINE_GENERATION_MISSING_RANGES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "engine/handles.h"

namespace superfluid {

// Which ranges of a sequence's state were demoted and are not on the device. Threads: one.
class MissingRanges {
 public:
  bool empty() const { return ranges_.empty(); }
  // Whether any position of the range is missing.
  bool Overlap(TokenRange range) const {
    return std::any_of(ranges_.begin(), ranges_.end(), [range](const TokenRange& missing) {
      return missing.start < range.end && range.start < missing.end;
    });
  }
  // Whether exactly this range was demoted.
  bool Has(TokenRange range) const {
    return std::find(ranges_.begin(), ranges_.end(), range) != ranges_.end();
  }

  void Add(TokenRange range) {
    if (range.start < range.end) ranges_.push_back(range);
  }
  void Remove(TokenRange range) { std::erase(ranges_, range); }
  void Clear() { ranges_.clear(); }

  // FailedPrecondition: the sequence cannot be cut within a demoted range, which comes back whole.
  absl::Status CheckCut(uint64_t length) const {
    for (const TokenRange& range : ranges_) {
      if (range.start < length && length < range.end) {
        return absl::FailedPreconditionError("the cut lies within a demoted range");
      }
    }
    return absl::OkStatus();
  }
  // Forgets what lies behind a cut.
  void Cut(uint64_t length) {
    std::erase_if(ranges_, [length](const TokenRange& range) { return range.start >= length; });
  }

 private:
  std::vector<TokenRange> ranges_;  // in no order
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_MISSING_RANGES_H_
