#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_LIBRARY_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_LIBRARY_H_

#include <memory>
#include <string>

#include "engine/engine.h"

namespace superfluid {

// llama.cpp's log callback and its list of backends belong to the whole process; this is their one
// user. While it exists the library's lines go to `log` (of several, to the newest's), its progress
// dots and debug lines nowhere.
//
// Threads: any; `log` may be called from any thread. Lifetime: outlives what is made of the
// library.
class LlamaLibrary {
 public:
  explicit LlamaLibrary(EngineLog log);
  LlamaLibrary(const LlamaLibrary&) = delete;
  LlamaLibrary& operator=(const LlamaLibrary&) = delete;
  ~LlamaLibrary();

  // Loads the backends of a folder, or of that of the library if it is empty; once per process for
  // each folder. It must come before a model is loaded.
  static void LoadBackends(const std::string& folder);
  // "0.5.0", as the library says; its backends' names after it.
  static std::string Version();

  // The first line of an error since this was last asked; empty: none.
  std::string TakeError();

  struct Sink;  // where lines go

 private:
  const std::shared_ptr<Sink> sink_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_LIBRARY_H_
