#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_AUDIO_BODY_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_AUDIO_BODY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "shm/owned_fd.h"
#include "tools/superfluidd/upload/upload_budget.h"

namespace superfluid::daemon {

// A recording that was received: in this process's memory while it is small, in a memory file (it
// has no path) from then on. Append from one thread, then pass it on as const: then thread-safe.
class AudioBody {
 public:
  // Bytes that stay out of a memory file.
  static constexpr size_t kSmall = size_t{64} << 10;

  AudioBody() = default;
  explicit AudioBody(std::shared_ptr<UploadBudget> budget) : share_(std::move(budget)) {}
  AudioBody(const AudioBody&) = delete;
  AudioBody& operator=(const AudioBody&) = delete;

  // Errors: ResourceExhausted (the budget of all uploads, memory, descriptors).
  absl::Status Append(std::string_view bytes);

  uint64_t size() const { return size_; }
  // Returns the first bytes, at most `kSmall`: enough to see the kind of the recording.
  std::string_view begin() const { return small_; }

  // Returns a descriptor of a sealed memory file with the bytes, for a worker. Errors:
  // ResourceExhausted. REQUIRES: size() > 0.
  absl::StatusOr<OwnedFd> SealedFd() const;

 private:
  absl::Status Write(std::string_view bytes);

  BudgetShare share_;
  std::string small_;  // the first bytes
  OwnedFd file_;       // everything, once there is more than kSmall
  uint64_t size_ = 0;
};

// Returns about how long a recording plays, from its size and its first bytes: exact for PCM in a
// wav file, else by a usual bit rate. Only for the order of work.
double EstimateSeconds(std::string_view begin, uint64_t bytes);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_AUDIO_BODY_H_
