#ifndef SUPERFLUID_ENGINE_WHISPER_BACKEND_CAPTURE_H_
#define SUPERFLUID_ENGINE_WHISPER_BACKEND_CAPTURE_H_

#include <vector>

#include "engine/whisper/ggml_names.h"

namespace superfluid {

// Sees the CPU backends that the library creates on this thread while the object lives. whisper.h
// has no call that aborts a computation, but a backend has one, and the library keeps its backends
// to itself; so its call is sent through here: by the linker (--wrap) where whisper.cpp is compiled
// in, and with a system installation by a function of ggml's name that the plug-in exports, which
// the dynamic linker finds before ggml's own (engine/whisper/exports.lds). At most one object on a
// thread.
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
// end early when it returns true. Null: they do not ask. False: this backend cannot do that.
bool SetAbortCallback(GgmlBackend backend, GgmlAbortCallback callback, void* context);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_BACKEND_CAPTURE_H_
