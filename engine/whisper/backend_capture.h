#ifndef SUPERFLUID_ENGINE_WHISPER_BACKEND_CAPTURE_H_
#define SUPERFLUID_ENGINE_WHISPER_BACKEND_CAPTURE_H_

#include <vector>

#include "engine/whisper/ggml_names.h"

namespace superfluid {

// Sees the CPU backends that the library creates on this thread while the object lives. whisper.h
// has no call that aborts a computation, but a backend has one, and the library keeps its backends
// to itself; so the linker sends its call through here (--wrap).
//
// With a system installation of the library, which is linked already, nothing is seen: a
// computation then runs to its end before a cancel is noticed. At most one object on a thread.
class BackendCapture {
 public:
  BackendCapture();
  ~BackendCapture();
  BackendCapture(const BackendCapture&) = delete;
  BackendCapture& operator=(const BackendCapture&) = delete;

  // In the order of their creation. They live as long as what created them says.
  const std::vector<GgmlBackend>& backends() const { return backends_; }

  // Called by the wrapped function.
  static void Note(GgmlBackend backend);

 private:
  std::vector<GgmlBackend> backends_;
};

// Has computations of a CPU backend ask `callback(context)` between any two nodes of a graph; they
// end early when it returns true. Null: they do not ask.
void SetAbortCallback(GgmlBackend backend, GgmlAbortCallback callback, void* context);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_BACKEND_CAPTURE_H_
