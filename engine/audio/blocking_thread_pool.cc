#include "engine/audio/blocking_thread_pool.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace superfluid {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

// Owned by the pool and by each of its threads.
struct BlockingThreadPool::Shared : public std::enable_shared_from_this<Shared> {
  explicit Shared(const Options& the_options) : options(the_options) {}

  // Adds `task` and sees to a thread for it; REQUIRES: the lock. Returns whether a thread exists.
  bool Add(Task task);
  // Has one more thread take a task, if one waits. One comes at a time, and sees to the next when
  // it has its task: whoever adds many at once pays for one wake. REQUIRES: the lock.
  void CallThread();
  bool StartThread();
  void RunThread();
  // Waits for a task; none when the thread shall end.
  Task Next(std::unique_lock<std::mutex>& lock);

  const Options options;
  std::mutex mutex;
  std::condition_variable work;   // a task was added, or the pool stops
  std::condition_variable ended;  // a thread ended
  std::deque<Task> waiting;
  std::list<Clock::time_point> running;  // when each running task began
  size_t threads = 0;
  size_t idle = 0;
  bool coming = false;  // a thread was woken or made, and has not looked at `waiting`
  bool stopping = false;
};

bool BlockingThreadPool::Shared::Add(Task task) {
  waiting.push_back(std::move(task));
  CallThread();
  return threads > 0;
}

void BlockingThreadPool::Shared::CallThread() {
  if (waiting.empty() || coming) return;
  if (idle > 0) {
    coming = true;
    work.notify_one();
  } else {
    coming = threads < options.max_threads && StartThread();
  }
}

bool BlockingThreadPool::Shared::StartThread() {
  try {
    std::thread([self = shared_from_this()] { self->RunThread(); }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  ++threads;
  return true;
}

BlockingExecutor::Task BlockingThreadPool::Shared::Next(std::unique_lock<std::mutex>& lock) {
  const auto deadline = Clock::now() + absl::ToChronoNanoseconds(options.idle_time);
  ++idle;
  bool in_time = true;
  while (waiting.empty() && !stopping && in_time) {
    coming = false;
    in_time = work.wait_until(lock, deadline) == std::cv_status::no_timeout;
  }
  --idle;
  coming = false;
  if (waiting.empty() || stopping) return nullptr;
  Task task = std::move(waiting.front());
  waiting.pop_front();
  CallThread();
  return task;
}

void BlockingThreadPool::Shared::RunThread() {
  std::unique_lock<std::mutex> lock(mutex);
  while (Task task = Next(lock)) {
    const auto began = running.insert(running.end(), Clock::now());
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes without the lock
    lock.lock();
    running.erase(began);
  }
  --threads;
  ended.notify_all();
}

BlockingThreadPool::BlockingThreadPool() : BlockingThreadPool(Options()) {}

BlockingThreadPool::BlockingThreadPool(const Options& options)
    : shared_(std::make_shared<Shared>(options)) {}

BlockingThreadPool::~BlockingThreadPool() { Stop(absl::ZeroDuration()); }

absl::Status BlockingThreadPool::Begin(Task task) {
  Task refused;  // goes after the lock: what it holds may call Continue
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  if (shared_->stopping) return absl::ResourceExhaustedError("the worker reads no more files");
  if (shared_->waiting.size() >= shared_->options.max_waiting) {
    return absl::ResourceExhaustedError("too many files wait to be read");
  }
  if (shared_->Add(std::move(task))) return absl::OkStatus();
  refused = std::move(shared_->waiting.back());
  shared_->waiting.pop_back();
  return absl::ResourceExhaustedError("no thread can be made to read a file with");
}

void BlockingThreadPool::Continue(Task task) {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  if (!shared_->stopping) shared_->Add(std::move(task));
}

BlockingThreadPool::Load BlockingThreadPool::load() const {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  Load load{.threads = shared_->threads, .waiting = shared_->waiting.size()};
  const auto before = Clock::now() - absl::ToChronoNanoseconds(kStuck);
  for (const Clock::time_point began : shared_->running) {
    if (began < before) ++load.stuck;
  }
  return load;
}

size_t BlockingThreadPool::Stop(absl::Duration patience) {
  std::deque<Task> dropped;
  std::unique_lock<std::mutex> lock(shared_->mutex);
  shared_->stopping = true;
  dropped.swap(shared_->waiting);
  shared_->work.notify_all();
  lock.unlock();
  dropped.clear();  // may call Continue
  lock.lock();
  shared_->ended.wait_for(lock, absl::ToChronoNanoseconds(patience),
                          [this] { return shared_->threads == 0; });
  return shared_->threads;
}

}  // namespace superfluid
