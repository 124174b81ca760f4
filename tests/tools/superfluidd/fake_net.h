#ifndef SUPERFLUID_TESTS_TOOLS_SUPERFLUIDD_FAKE_NET_H_
#define SUPERFLUID_TESTS_TOOLS_SUPERFLUIDD_FAKE_NET_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tools/superfluidd/net/io_loop.h"
#include "tools/superfluidd/net/net_stream.h"

namespace superfluid::daemon {

// A loop that a test turns by hand, in virtual time.
class FakeLoop final : public IoLoop {
 public:
  void Post(std::function<void()> work) override { work_.push_back(std::move(work)); }

  std::unique_ptr<LoopTimer> MakeTimer() override {
    return std::make_unique<Timer>(*this, next_timer_++);
  }
  absl::Duration Now() const override { return now_; }

  // Runs what was posted, and what that posts.
  void RunPosted() {
    while (!work_.empty()) {
      auto work = std::move(work_.front());
      work_.pop_front();
      work();
    }
  }

  // Lets time pass; timers ring on the way.
  void Advance(absl::Duration time) {
    const absl::Duration end = now_ + time;
    RunPosted();
    while (true) {
      auto next = std::min_element(
          timers_.begin(), timers_.end(),
          [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
      if (next == timers_.end() || next->second.first > end) break;
      now_ = std::max(now_, next->second.first);
      auto due = std::move(next->second.second);
      timers_.erase(next);
      due();
      RunPosted();
    }
    now_ = end;
  }

 private:
  class Timer final : public LoopTimer {
   public:
    Timer(FakeLoop& loop, int id) : loop_(loop), id_(id) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() override { loop_.timers_.erase(id_); }
    void Set(absl::Duration delay, std::function<void()> due) override {
      loop_.timers_[id_] = {loop_.now_ + delay, std::move(due)};
    }
    void Cancel() override { loop_.timers_.erase(id_); }

   private:
    FakeLoop& loop_;
    int id_;
  };

  std::deque<std::function<void()>> work_;
  std::map<int, std::pair<absl::Duration, std::function<void()>>> timers_;
  int next_timer_ = 0;
  absl::Duration now_ = absl::Seconds(1000);
};

// The two ends of a connection: the session has the stream, the test this.
struct FakePeer {
  explicit FakePeer(FakeLoop& l) : loop(l) {}

  // The client sends.
  void Send(std::string bytes) {
    to_server += bytes;
    Deliver();
    loop.RunPosted();
  }
  // The client hangs up.
  void Vanish() {
    gone = true;
    Deliver();
    loop.RunPosted();
  }
  // What the client got until now.
  std::string Received() { return std::exchange(to_client, {}); }

  void Deliver() {
    if (!read || (to_server.empty() && !gone)) return;
    auto done = std::exchange(read, nullptr);
    const size_t size = std::min(read_size, to_server.size());
    to_server.copy(read_buffer, size);
    to_server.erase(0, size);
    const std::error_code error =
        size == 0 ? std::make_error_code(std::errc::connection_reset) : std::error_code();
    loop.Post([done = std::move(done), error, size] { done(error, size); });
  }

  FakeLoop& loop;
  std::string to_server;
  std::string to_client;
  bool gone = false;
  bool takes_nothing = false;  // the client does not read
  bool write_shut = false;
  bool closed = false;
  NetStream::Done read;
  char* read_buffer = nullptr;
  size_t read_size = 0;
};

class FakeStream final : public NetStream {
 public:
  explicit FakeStream(std::shared_ptr<FakePeer> peer) : peer_(std::move(peer)) {}

  void Open(std::function<void(std::error_code)> done) override {
    peer_->loop.Post([done = std::move(done)] { done({}); });
  }
  void Read(char* buffer, size_t size, Done done) override {
    peer_->read = std::move(done);
    peer_->read_buffer = buffer;
    peer_->read_size = size;
    peer_->Deliver();
  }
  void Write(std::string_view bytes, Done done) override {
    if (peer_->takes_nothing) {
      stuck_ = std::move(done);
      return;
    }
    peer_->to_client += bytes;
    peer_->loop.Post([done = std::move(done), size = bytes.size()] { done({}, size); });
  }
  void ShutdownWrite() override { peer_->write_shut = true; }
  void Close() override {
    peer_->closed = true;
    const auto error = std::make_error_code(std::errc::operation_canceled);
    for (Done* pending : {&peer_->read, &stuck_}) {
      if (!*pending) continue;
      peer_->loop.Post([done = std::exchange(*pending, nullptr), error] { done(error, 0); });
    }
  }
  std::string Peer() const override { return "fake"; }

 private:
  std::shared_ptr<FakePeer> peer_;
  Done stuck_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TESTS_TOOLS_SUPERFLUIDD_FAKE_NET_H_
