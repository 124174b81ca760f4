#include "tools/decode/decoder_pool.h"

#include <utility>

namespace superfluid::decode {

DecoderPool::DecoderPool(std::string program, size_t spares)
    : program_(std::move(program)), spares_(spares) {}

absl::Status DecoderPool::Fill() {
  const std::lock_guard lock(mutex_);
  while (waiting_.size() < spares_) {
    absl::StatusOr<std::unique_ptr<DecodeProcess>> spare = DecodeProcess::Start(program_);
    if (!spare.ok()) return spare.status();
    waiting_.push_back(*std::move(spare));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DecodeProcess>> DecoderPool::Begin(int input_fd,
                                                                  const DecodeLimits& limits) {
  // A spare may have been killed while it waited.
  while (std::unique_ptr<DecodeProcess> spare = TakeSpare()) {
    if (!spare->Begin(input_fd, limits).ok()) continue;
    Fill().IgnoreError();  // without a spare the next recording starts its own
    return spare;
  }
  absl::StatusOr<std::unique_ptr<DecodeProcess>> process = DecodeProcess::Start(program_);
  if (!process.ok()) return process;
  if (absl::Status status = (*process)->Begin(input_fd, limits); !status.ok()) return status;
  Fill().IgnoreError();
  return process;
}

std::unique_ptr<DecodeProcess> DecoderPool::TakeSpare() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return nullptr;
  std::unique_ptr<DecodeProcess> spare = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  return spare;
}

}  // namespace superfluid::decode
