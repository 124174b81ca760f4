#ifndef SUPERFLUID_ENGINE_WHISPER_LIBRARY_LOG_H_
#define SUPERFLUID_ENGINE_WHISPER_LIBRARY_LOG_H_

#include <cstdint>
#include <memory>
#include <string>

#include "engine/engine.h"

namespace superfluid {

// Sends what whisper.cpp and ggml report to the engine's log while the object lives. Their callback
// is one for the whole process, so the last object made gets everything, and whatever comes after
// the last one's end is dropped: one engine at a time.
//
// While a model is loaded, warnings and errors are logged as what they are, and all else as
// debugging output. After that an abort that we asked for looks like an error to the library: so
// warnings and errors become debugging output, and the rest (several lines a second) is dropped.
//
// Threads: the library may report from any thread; the methods are for one at a time.
class LibraryLog {
 public:
  explicit LibraryLog(EngineLog log);
  ~LibraryLog();
  LibraryLog(const LibraryLog&) = delete;
  LibraryLog& operator=(const LibraryLog&) = delete;

  void EndLoading();

  // The first error since the last call, without the name of the library's function; empty if there
  // was none. For the text of a Status.
  std::string TakeFirstError();

  // What the library said that the buffers of states made while loading take, on whatever device,
  // since the last call; no other call of it tells. 0: it said nothing.
  uint64_t TakeStateBytes();

 private:
  class Sink;
  std::unique_ptr<Sink> sink_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_LIBRARY_LOG_H_
