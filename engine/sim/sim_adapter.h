#ifndef SUPERFLUID_ENGINE_SIM_SIM_ADAPTER_H_
#define SUPERFLUID_ENGINE_SIM_SIM_ADAPTER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "engine/sampling/handle_source.h"
#include "engine/sim/sim_sequence.h"

namespace superfluid {

inline constexpr size_t kSimMaxAdapterBytes = size_t{1} << 20U;

// The loaded adapter: any file of 1 byte to kSimMaxAdapterBytes, whose content changes what the
// engine computes. The same content changes it in the same way, under another id each time it is
// loaded. Threads: one.
class SimAdapter {
 public:
  explicit SimAdapter(HandleSource& handles) : handles_(handles) {}

  // NotFound, InvalidArgument: see ReadSimFile; the adapter before stays then.
  absl::StatusOr<AdapterId> Load(const std::string& path);
  void Unload();

  const SimAdapterRef& current() const { return current_; }
  uint64_t bytes() const { return bytes_; }

 private:
  HandleSource& handles_;
  SimAdapterRef current_;
  uint64_t bytes_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_ADAPTER_H_
