#include "engine/pocketsphinx/decoder_pool.h"

#include <pthread.h>
#include <sched.h>

#include <utility>

namespace superfluid {
namespace {

// A thread that is woken usually takes the core from the one that woke it. This one's work can wait
// until the engine has finished its step.
void LetOthersGoFirst() {
  const sched_param none = {};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);  // if refused: only less smooth
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecoderPool>> DecoderPool::Create(Make make, int warm, int size) {
  std::unique_ptr<DecoderPool> pool(new DecoderPool(std::move(make), size));
  for (int i = 0; i < warm; ++i) {
    absl::StatusOr<std::unique_ptr<Decoder>> decoder = pool->make_();
    if (!decoder.ok()) return decoder.status();
    pool->ready_.push_back(*std::move(decoder));
    ++pool->made_;
  }
  pool->thread_ = std::thread([self = pool.get()] { self->Run(); });
  return pool;
}

DecoderPool::DecoderPool(Make make, int size) : make_(std::move(make)), size_(size) {}

DecoderPool::~DecoderPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::unique_ptr<Decoder>> DecoderPool::Take(std::chrono::microseconds wait) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (ready_.empty()) {
    missed_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, wait, [this] { return !ready_.empty() || !failure_.ok(); });
  }
  if (ready_.empty())
    return failure_.ok() ? nullptr
                         : absl::StatusOr<std::unique_ptr<Decoder>>(std::exchange(failure_, {}));
  std::unique_ptr<Decoder> decoder = std::move(ready_.back());
  ready_.pop_back();
  missed_ = false;
  return decoder;
}

void DecoderPool::GiveBack(std::unique_ptr<Decoder> decoder) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    used_.push_back(std::move(decoder));
  }
  changed_.notify_all();
}

int DecoderPool::made() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return made_;
}

void DecoderPool::Run() {
  LetOthersGoFirst();
  std::unique_lock<std::mutex> lock(mutex_);
  const auto to_make = [this] { return missed_ && ready_.empty() && made_ < size_; };
  while (!stopping_) {
    if (!used_.empty()) {
      ResetOne(lock);
    } else if (to_make()) {
      MakeOne(lock);
    } else {
      changed_.wait(lock, [&] { return stopping_ || !used_.empty() || to_make(); });
    }
  }
}

void DecoderPool::ResetOne(std::unique_lock<std::mutex>& lock) {
  std::unique_ptr<Decoder> decoder = std::move(used_.back());
  used_.pop_back();
  lock.unlock();
  const bool usable = decoder->Reset().ok();
  if (!usable) decoder.reset();
  lock.lock();
  if (usable) {
    ready_.push_back(std::move(decoder));
  } else {
    --made_;  // another one takes its place when it is missed
  }
  changed_.notify_all();
}

void DecoderPool::MakeOne(std::unique_lock<std::mutex>& lock) {
  missed_ = false;
  lock.unlock();
  absl::StatusOr<std::unique_ptr<Decoder>> decoder = make_();
  lock.lock();
  if (decoder.ok()) {
    ready_.push_back(*std::move(decoder));
    ++made_;
  } else {
    failure_ = decoder.status();
  }
  changed_.notify_all();
}

}  // namespace superfluid
