#ifndef SUPERFLUID_ENGINE_SAMPLING_HANDLE_SOURCE_H_
#define SUPERFLUID_ENGINE_SAMPLING_HANDLE_SOURCE_H_

#include <cstdint>

namespace superfluid {

// Numbers that never come again; one source for all kinds of handles of an engine, so that a handle
// of one kind is never one of another. Threads: one.
class HandleSource {
 public:
  template <typename Handle>
  Handle Next() {
    return static_cast<Handle>(++last_);
  }

 private:
  uint64_t last_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_HANDLE_SOURCE_H_
