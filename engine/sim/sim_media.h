#ifndef SUPERFLUID_ENGINE_SIM_SIM_MEDIA_H_
#define SUPERFLUID_ENGINE_SIM_SIM_MEDIA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/generation.h"
#include "engine/sampling/handle_source.h"
#include "engine/sim/sim_sequence.h"

namespace superfluid {

inline constexpr size_t kSimMaxMediaBytes = size_t{16} << 20U;
inline constexpr size_t kSimMaxMedia = 1024;
inline constexpr size_t kSimMaxBindings = 4096;
inline constexpr Token kSimImageToken = 1;
inline constexpr Token kSimBeginOfImage = 2;
inline constexpr Token kSimEndOfImage = 3;

// Encoded media and where they are bound. Media is any file of up to kSimMaxMediaBytes; it stands
// for 1 token per 64 bytes begun, at most 256. The tokens at its place may be any; the fingerprint
// goes into their rows. Threads: one.
class SimMedia {
 public:
  explicit SimMedia(HandleSource& handles) : handles_(handles) {}

  // NotFound, InvalidArgument: see ReadSimFile.
  static absl::StatusOr<MediaInfo> Probe(const std::string& path);
  absl::StatusOr<EncodedMedia> Encode(const std::string& path);  // and ResourceExhausted
  absl::Status Release(MediaHandle handle);                      // NotFound; bindings stay

  // NotFound, ResourceExhausted.
  absl::Status Bind(LaneTag tag, MediaHandle handle, uint64_t token_offset);
  // What is bound to the lane's next input of `tokens` tokens, by position in it; bound no more.
  // InvalidArgument: it reaches beyond the input, or overlaps.
  absl::StatusOr<MediaMap> TakeBindings(LaneTag tag, uint64_t tokens);

  void Clear();
  size_t size() const { return media_.size(); }

 private:
  struct Binding {
    uint64_t offset = 0;
    MediaInfo info;
  };

  HandleSource& handles_;
  std::map<MediaHandle, MediaInfo> media_;
  std::map<LaneTag, std::vector<Binding>> bindings_;
  size_t bound_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_MEDIA_H_
