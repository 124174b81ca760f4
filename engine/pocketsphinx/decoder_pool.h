#ifndef SUPERFLUID_ENGINE_POCKETSPHINX_DECODER_POOL_H_
#define SUPERFLUID_ENGINE_POCKETSPHINX_DECODER_POOL_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/pocketsphinx/decoder.h"

namespace superfluid {

// The decoders of an engine. Making one takes half a second and resetting one 10 ms or more; both
// happen on the pool's own thread, so that taking and giving back cost the engine nothing.
//
// Threads: the methods are called by one thread, the engine's. A decoder is used by the engine's
// thread while it is taken and by the pool's own while it is not.
// Lifetime: every decoder is given back before the pool is destroyed, which waits for the thread.
class DecoderPool {
 public:
  using Make = std::function<absl::StatusOr<std::unique_ptr<Decoder>>()>;

  // Makes `warm` decoders at once, the others (up to `size`) when they are first missed.
  // Errors: those of `make`.
  static absl::StatusOr<std::unique_ptr<DecoderPool>> Create(Make make, int warm, int size);

  ~DecoderPool();
  DecoderPool(const DecoderPool&) = delete;
  DecoderPool& operator=(const DecoderPool&) = delete;

  // A decoder in its initial state. Null if none is ready after `wait`: one is being made or reset,
  // or all are taken; ask again. Errors: those of making one (asking again tries again).
  absl::StatusOr<std::unique_ptr<Decoder>> Take(std::chrono::microseconds wait);

  // In any state, in the middle of an utterance too.
  void GiveBack(std::unique_ptr<Decoder> decoder);

  // Decoders that exist.
  int made() const;

 private:
  DecoderPool(Make make, int size);

  void Run();
  void ResetOne(std::unique_lock<std::mutex>& lock);
  void MakeOne(std::unique_lock<std::mutex>& lock);

  const Make make_;
  const int size_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All below: guarded by mutex_.
  std::vector<std::unique_ptr<Decoder>> ready_;
  std::vector<std::unique_ptr<Decoder>> used_;  // given back, to be reset
  int made_ = 0;
  bool missed_ = false;  // somebody found none ready
  bool stopping_ = false;
  absl::Status failure_;  // of the last attempt to make one, until it was reported
  std::thread thread_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_POCKETSPHINX_DECODER_POOL_H_
