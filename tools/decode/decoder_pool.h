#ifndef SUPERFLUID_TOOLS_DECODE_DECODER_POOL_H_
#define SUPERFLUID_TOOLS_DECODE_DECODER_POOL_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/decode/decode_process.h"

namespace superfluid::decode {

// Keeps decoder processes that are loaded and wait, so that a recording does not wait for its
// decoder's libraries. Each serves one recording and ends.
//
// Threads: any. Begin takes as long as starting a process does: the spare for the next recording is
// started there.
class DecoderPool {
 public:
  // `spares`: how many wait. The first ones are started by Begin, or by Fill.
  DecoderPool(std::string program, size_t spares);

  // Starts the spares that are missing. Errors: as DecodeProcess::Start.
  absl::Status Fill();

  // Hands `input_fd` to a spare, or, if there is none that lives, to a new process. Errors: as
  // DecodeProcess::Start and Begin.
  absl::StatusOr<std::unique_ptr<DecodeProcess>> Begin(int input_fd, const DecodeLimits& limits);

 private:
  std::unique_ptr<DecodeProcess> TakeSpare();

  const std::string program_;
  const size_t spares_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<DecodeProcess>> waiting_;  // guarded by mutex_
};

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_DECODER_POOL_H_
