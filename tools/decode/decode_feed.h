#ifndef SUPERFLUID_TOOLS_DECODE_DECODE_FEED_H_
#define SUPERFLUID_TOOLS_DECODE_DECODE_FEED_H_

#include <functional>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "shm/owned_fd.h"
#include "tools/decode/decoder_pool.h"

namespace superfluid::decode {

// Decodes one recording and hands its samples on, on a thread of its own, so that nothing else
// waits for a decoder.
//
// Lifetime: `pool` and all that the target's functions use must outlive the feed.
class DecodeFeed {
 public:
  // Called on the feed's thread.
  struct Target {
    // Takes samples (float, mono, 16 kHz); bytes in any number. May block. If it fails, `ended` is
    // told so.
    std::function<absl::Status(std::string_view samples)> push;
    // Called last and once, unless the feed is destroyed before. Errors: those of `push` and of
    // DecodeProcess::Finish; Unavailable, too, if no decoder could be started.
    std::function<void(const absl::StatusOr<DecodeSummary>& outcome)> ended;
  };

  DecodeFeed(DecoderPool& pool, OwnedFd recording, const DecodeLimits& limits, Target target);
  DecodeFeed(const DecodeFeed&) = delete;
  DecodeFeed& operator=(const DecodeFeed&) = delete;
  ~DecodeFeed();  // kills the decoder; waits for a call of the target that is on its way

 private:
  void Run(const OwnedFd& recording);
  absl::StatusOr<DecodeSummary> Decode(int recording) const;
  absl::Status PushAll(int samples_fd) const;
  bool WaitForSamples(int fd) const;

  DecoderPool& pool_;
  const DecodeLimits limits_;
  const Target target_;
  OwnedFd stop_;  // readable: stop
  std::thread thread_;
};

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_DECODE_FEED_H_
