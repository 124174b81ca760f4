#ifndef SUPERFLUID_ENGINE_ENGINE_H_
#define SUPERFLUID_ENGINE_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/audio/audio_source.h"
#include "engine/generation.h"
#include "engine/transcription.h"

namespace superfluid {

// Where an engine's log lines go. May be called from any thread until the engine is destroyed.
enum class EngineLogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };
using EngineLog = std::function<void(EngineLogLevel level, absl::string_view line)>;

// A step of a transcription that took longer than its engine says, so that a cancel does, too.
struct SlowStep {
  absl::Duration took;
  absl::Duration said;                   // EngineInfo::micro_step
  bool asked_whether_cancelled = false;  // in that step
};

// How an engine is to be made. Paths and values come from the command line of the worker.
struct EngineConfig {
  std::string model_path;  // a file or a folder; empty: the engine's default model, if it has one
  std::vector<std::pair<std::string, std::string>> options;  // --engine-option k=v, in order
  int device = 0;      // accelerator index; ignored by engines that run on the CPU
  int threads = 0;     // compute threads to use; 0: one. Never the library's own default
  EngineLog log;       // null: log lines are dropped
  EngineLog host_log;  // what the host of a plug-in says about it; null: `log` takes that, too
  // Told how much of the model is loaded, in thousandths, while the engine is made and by the
  // thread that makes it, which is the engine's. An engine need not say. Null: nobody is told.
  std::function<void(uint32_t permille)> on_loading;
  // Told of a plug-in whose steps are slow, once at most; null: nobody is told.
  std::function<void(const SlowStep&)> on_slow_step;
};

struct EngineInfo {
  std::string name;     // "pocketsphinx"
  std::string version;  // of the engine and the library below it, for people
  // The longest single micro-step that the engine expects; cancels are honoured within it.
  absl::Duration micro_step = absl::Milliseconds(20);
  int max_transcriptions = 0;  // jobs that may exist at once; 0: the engine does not transcribe
  int max_lanes = 0;           // lanes of a tick; 0: the engine does not run ticks
  uint32_t kv_bits = 0;        // bits of one KV element; 0: no KV state
  // Tokens are below this; the host refuses others before the engine sees them. 0: no tokens.
  uint32_t vocab_size = 0;
};

// Memory in use, in the terms of Link W.
struct MemoryCounters {
  uint64_t allocated_bytes = 0;
  uint64_t host_retained_bytes = 0;
  uint64_t pool_blocks_total = 0;
  uint64_t pool_blocks_used = 0;
  uint64_t pool_bytes_evictable = 0;
  uint64_t tentative_bytes = 0;
};

// What a worker hosts: a model on one accelerator.
//
// An engine is driven in micro-steps by one thread, the one that created it; no method is called
// from another thread, destruction included. No method may block for longer than
// `info().micro_step`, except the factory that creates the engine, and a call with a CallControl,
// as long as it shows that it gets on. A call that an engine does not have returns Unimplemented.
class Engine {
 public:
  virtual ~Engine() = default;

  // Constant over the engine's life.
  virtual const EngineInfo& info() const = 0;

  // A JSON object for people and daemons: name, version, model, what is supported. "calls" is an
  // array with the names of what the engine serves: "transcribe", "tick", "match", "seed",
  // "state_ops", "strategy", and the other calls by their field name in StateSyncReq of linkw.proto
  // ("fork", "export_size", ...). Whatever is not in it answers Unimplemented.
  virtual std::string CapabilitiesJson() const = 0;

  virtual MemoryCounters Memory() const { return {}; }

  // Starts transcribing `audio`. Errors: Unimplemented (no speech, or a language or option that the
  // engine lacks), InvalidArgument (bad parameters), ResourceExhausted (max_transcriptions jobs
  // exist).
  virtual absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& params, std::unique_ptr<AudioSource> audio);

  // Token generation; null if the engine has none. The engine's own, constant over its life.
  virtual Generation* generation() { return nullptr; }

  // Drops whatever outlives a link: caches, adapters. No job exists when it is called, and
  // Generation::EndSession was called before.
  virtual void Reset() {}
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ENGINE_H_
