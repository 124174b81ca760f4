#ifndef SUPERFLUID_ENGINE_ABI_GUARDED_BUFFER_H_
#define SUPERFLUID_ENGINE_ABI_GUARDED_BUFFER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/abi/superfluid_engine.h"

namespace superfluid {

// Zeroed memory that a plug-in writes to, followed by guard bytes, so that a plug-in that writes a
// little past the end is found out before it does harm. Threads: one at a time.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t capacity);

  char* data() { return bytes_.data(); }
  const char* data() const { return bytes_.data(); }
  size_t capacity() const { return capacity_; }

  // False once something wrote past the capacity.
  bool intact() const;

 private:
  size_t capacity_;
  std::vector<char> bytes_;
};

// Room for a plug-in's error message, for one call after another.
class ErrorBuffer {
 public:
  ErrorBuffer();

  // Empties the buffer for the next call; the result is valid until the call after.
  sfl_error* Prepare();

  // What the call that `what` names returned, as a Status whose text starts with `what`. Internal
  // if the plug-in wrote past the buffer, whatever it returned.
  absl::Status ToStatus(absl::string_view what, sfl_status code) const;

 private:
  GuardedBuffer buffer_;
  sfl_error error_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_GUARDED_BUFFER_H_
