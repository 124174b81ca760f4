#ifndef SUPERFLUID_ENGINE_SIM_SIM_MEDIA_H_
#define SUPERFLUID_ENGINE_SIM_SIM_MEDIA_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/generation/media_book.h"

namespace superfluid {

inline constexpr size_t kSimMaxMediaBytes = size_t{16} << 20U;
inline constexpr Token kSimImageToken = 1;
inline constexpr Token kSimBeginOfImage = 2;
inline constexpr Token kSimEndOfImage = 3;

// Media is any file of up to kSimMaxMediaBytes; it stands for 1 token per 64 bytes begun, at most
// 256. The tokens at its place may be any; the fingerprint goes into their rows. Threads: one.
class SimMedia final : public MediaModel {
 public:
  // `compute`: what the time that reading takes is spent by; may say Cancelled.
  explicit SimMedia(std::function<absl::Status(const CallControl&)> compute)
      : compute_(std::move(compute)) {}

  // And the errors of ReadSimFile.
  absl::StatusOr<PreparedMedia> Prepare(const std::string& path,
                                        const CallControl& control) override;
  absl::StatusOr<MediaItemRef> Encode(const PreparedMedia& media,
                                      const CallControl& control) override;

 private:
  const std::function<absl::Status(const CallControl&)> compute_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_MEDIA_H_
