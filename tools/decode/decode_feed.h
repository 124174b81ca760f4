#ifndef SUPERFLUID_TOOLS_DECODE_DECODE_FEED_H_
#define SUPERFLUID_TOOLS_DECODE_DECODE_FEED_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "shm/owned_fd.h"
#include "tools/decode/decoder_pool.h"

namespace superfluid::decode {

// Decodes one recording and hands its samples to a transcription that takes them as live audio, on
// a thread of its own, so that nothing else waits for a decoder or for a transcription.
//
// Lifetime: `pool` and all that the target's functions use must outlive the feed.
class DecodeFeed {
 public:
  // Called on the feed's thread.
  struct Target {
    // Takes samples (float, mono, 16 kHz); `end`: there are no more. May block. If it fails,
    // feeding just ends: the target knows why.
    std::function<absl::Status(std::string samples, bool end)> push;
    // How much of what was pushed has been used: the feed stays kMaxLead ahead of that.
    std::function<absl::Duration()> consumed;
    // Called once if the recording cannot be decoded to its end, after failure() was set.
    std::function<void()> failed;
  };

  static constexpr absl::Duration kMaxLead = absl::Seconds(10);

  DecodeFeed(DecoderPool& pool, OwnedFd recording, const DecodeLimits& limits, Target target);
  DecodeFeed(const DecodeFeed&) = delete;
  DecodeFeed& operator=(const DecodeFeed&) = delete;
  ~DecodeFeed();  // stops; waits for a call of the target that is on its way

  // Why the recording could not be decoded; OK: nothing went wrong so far. Threads: any.
  absl::Status failure() const;

 private:
  void Run(const OwnedFd& recording);
  absl::Status Feed(DecodeProcess& process);
  bool WaitForSamples(int fd) const;
  bool WaitUntilWanted(uint64_t bytes) const;

  DecoderPool& pool_;
  const DecodeLimits limits_;
  const Target target_;
  OwnedFd stop_;  // readable: stop
  mutable std::mutex mutex_;
  absl::Status failure_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_DECODE_FEED_H_
