#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_OUTBOX_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_OUTBOX_H_

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "tools/superfluidd/http/exchange.h"

namespace superfluid::daemon {

// The response of one request between the threads that make it and the session that writes it.
// Thread-safe.
class Outbox final : public ResponseSink {
 public:
  struct Item {
    enum class Kind { kReply, kBegin, kBytes, kEnd };
    Kind kind = Kind::kBytes;
    HttpReply head;     // kReply, kBegin
    std::string bytes;  // kBytes
  };

  // `wake`: called on any thread when Take has something after it had nothing. `max_bytes`: more
  // that is not taken overflows.
  Outbox(std::function<void()> wake, size_t max_bytes)
      : wake_(std::move(wake)), max_bytes_(max_bytes) {}

  void Reply(HttpReply reply) override {
    Put({.kind = Item::Kind::kReply, .head = std::move(reply), .bytes = {}});
  }
  void Begin(HttpReply head) override {
    Put({.kind = Item::Kind::kBegin, .head = std::move(head), .bytes = {}});
  }
  void Write(std::string bytes) override {
    if (bytes.empty()) return;
    Put({.kind = Item::Kind::kBytes, .head = {}, .bytes = std::move(bytes)});
  }
  void End() override { Put({.kind = Item::Kind::kEnd, .head = {}, .bytes = {}}); }

  // Returns what is to be written, in order.
  std::vector<Item> Take() {
    const std::lock_guard lock(mutex_);
    bytes_ = 0;
    return std::exchange(items_, {});
  }

  // Drops what comes from now on.
  void Close() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    items_.clear();
  }

  // Returns whether the client took so little that something was dropped.
  bool overflowed() const {
    const std::lock_guard lock(mutex_);
    return overflowed_;
  }

 private:
  void Put(Item item) {
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      ended_ = item.kind == Item::Kind::kReply || item.kind == Item::Kind::kEnd;
      bytes_ += item.bytes.size();
      if (bytes_ > max_bytes_) overflowed_ = ended_ = true;
      const bool had_none = items_.empty();
      items_.push_back(std::move(item));
      if (!had_none && !overflowed_) return;
    }
    wake_();
  }

  const std::function<void()> wake_;
  const size_t max_bytes_;
  mutable std::mutex mutex_;
  std::vector<Item> items_;  // these are guarded by mutex_
  size_t bytes_ = 0;
  bool ended_ = false;
  bool overflowed_ = false;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_OUTBOX_H_
