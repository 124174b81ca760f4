#include "actors/runtime/hosted_thread.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "caf/intrusive_ptr.hpp"

namespace superfluid {
namespace {

// How many turns a busy thread takes before it looks at its descriptors.
constexpr int kTurnsWithoutPoll = 64;

constexpr timespec kAtOnce = {};

// Of what is polled.
constexpr size_t kEvent = 0;
constexpr size_t kPoller = 1;
constexpr size_t kFirstIdle = 2;

}  // namespace

HostedThread::HostedThread(caf::actor_system& system, const Options& options)
    : caf::execution_unit(&system),
      options_(options),
      context_(&system),
      event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_.valid()) std::abort();  // at the start of the process, or never
  thread_ = std::thread([this] { Run(); });
}

HostedThread::~HostedThread() { Stop(); }

void HostedThread::Stop() {
  if (!thread_.joinable()) return;
  Enqueue([this] { stop_ = true; });
  thread_.join();
}

void HostedThread::exec_later(caf::resumable* ready) {
  if (current_ == this) return ready_.push_back(ready);
  Enqueue([this, ready] { remote_.push_back(ready); });
}

void HostedThread::Post(std::function<void()> task) {
  Enqueue([this, &task] { posted_.push_back(std::move(task)); });
}

// Keeps invariant 2: who finds the thread asleep wakes it, once.
template <class Insert>
void HostedThread::Enqueue(Insert insert) {
  bool sleeps = false;
  {
    const std::lock_guard lock(mutex_);
    insert();
    has_remote_.store(true, std::memory_order_release);
    sleeps = std::exchange(asleep_, false);
  }
  if (sleeps) OweWake();
}

void HostedThread::OweWake() {
  if (current_ == nullptr || current_ == this || current_->in_step_) return Wake();
  current_->owed_.push_back(this);
}

void HostedThread::PayWakes() {
  for (HostedThread* sleeper : owed_) sleeper->Wake();
  owed_.clear();
}

void HostedThread::Wake() {
  const uint64_t one = 1;
  // Fails only if the counter is full, and then it is readable anyway.
  static_cast<void>(!write(event_.get(), &one, sizeof one));
}

void HostedThread::BeginStep() {
  HandOverReady();
  for (const std::weak_ptr<IdleWatch>& entry : idle_watches_) {
    if (const std::shared_ptr<IdleWatch> watch = entry.lock()) watch->HandOver();
  }
  PayWakes();
  in_step_ = true;
}

// Keeps invariant 3.
void HostedThread::HandOverReady() {
  if (options_.fallback == nullptr) return;
  std::erase_if(ready_, [this](caf::resumable* ready) {
    const auto* actor = dynamic_cast<const MayFloat*>(ready);
    if (actor == nullptr || !actor->floats()) return false;
    options_.fallback->exec_later(ready);
    return true;
  });
}

void HostedThread::Run() {
  current_ = this;
  pthread_setname_np(pthread_self(), options_.name);
  while (true) {
    if (has_remote_.load(std::memory_order_acquire) && !TakeRemote()) break;
    if (ready_.empty()) {
      PayWakes();
      Sleep();
    } else {
      RunOne();
      if (++turns_since_poll_ >= kTurnsWithoutPoll) LookAround();
    }
  }
  PayWakes();
  for (caf::resumable* ready : ready_) caf::intrusive_ptr_release(ready);
  ready_.clear();
  current_ = nullptr;
}

// Returns false if the thread is to end.
bool HostedThread::TakeRemote() {
  std::vector<std::function<void()>> posted;
  bool goes_on = true;
  {
    const std::lock_guard lock(mutex_);
    has_remote_.store(false, std::memory_order_relaxed);
    taken_.swap(remote_);
    posted.swap(posted_);
    goes_on = !stop_;
  }
  ready_.insert(ready_.end(), taken_.begin(), taken_.end());
  taken_.clear();
  for (const std::function<void()>& task : posted) task();
  return goes_on;
}

void HostedThread::RunOne() {
  caf::resumable* ready = ready_.front();
  ready_.pop_front();
  turn_.fetch_add(1, std::memory_order_relaxed);
  // `context_`, not `*this`: what an actor sends to pooled ones, and spawns, goes to exec_later of
  // the unit that is passed here.
  const auto result = ready->resume(&context_, options_.throughput);
  turn_.fetch_add(1, std::memory_order_relaxed);
  if (result == caf::resumable::resume_later) return ready_.push_back(ready);
  if (result != caf::resumable::shutdown_execution_unit) caf::intrusive_ptr_release(ready);
}

void HostedThread::Sleep() {
  {
    const std::lock_guard lock(mutex_);
    if (has_remote_.load(std::memory_order_relaxed)) return;
    asleep_ = true;
  }
  AskIdleWatches();
  Poll(/*patience=*/nullptr);
}

// A busy thread looks at its own descriptors now and then, and at those of idle watches not at all.
void HostedThread::LookAround() {
  polled_.clear();
  Poll(&kAtOnce);
}

void HostedThread::Poll(const timespec* patience) {
  turns_since_poll_ = 0;
  items_.resize(kFirstIdle + polled_.size());
  items_[kEvent] = {.fd = event_.get(), .events = POLLIN, .revents = 0};
  items_[kPoller] = {
      .fd = options_.poller ? options_.poller->fd() : -1, .events = POLLIN, .revents = 0};
  for (size_t i = 0; i < polled_.size(); ++i) {
    items_[kFirstIdle + i] = {.fd = polled_[i].fd, .events = POLLIN, .revents = 0};
  }
  const int ready = ppoll(items_.data(), items_.size(), patience, nullptr);
  if (patience == nullptr) {
    const std::lock_guard lock(mutex_);
    asleep_ = false;
  }
  if (ready <= 0) return;
  uint64_t count = 0;
  if (items_[kEvent].revents != 0) static_cast<void>(!read(event_.get(), &count, sizeof count));
  for (size_t i = 0; i < polled_.size(); ++i) {
    if (items_[kFirstIdle + i].revents == 0) continue;
    if (const std::shared_ptr<IdleWatch> watch = polled_[i].watch.lock()) watch->OnReady();
  }
  if (items_[kPoller].revents != 0) options_.poller->Dispatch();
}

void HostedThread::AskIdleWatches() {
  polled_.clear();
  std::erase_if(idle_watches_, [this](const std::weak_ptr<IdleWatch>& entry) {
    const std::shared_ptr<IdleWatch> watch = entry.lock();
    if (watch == nullptr) return true;
    if (const int fd = watch->BeginIdle(); fd >= 0) polled_.push_back({entry, fd});
    return false;
  });
}

}  // namespace superfluid
