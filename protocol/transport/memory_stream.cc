#include "protocol/transport/memory_stream.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace superfluid {
namespace {

using Callback = std::function<void()>;

void CallIfSet(const Callback& callback) {
  if (callback) callback();
}

// One direction. Callbacks are called without the lock: they may come back at once.
class Pipe {
 public:
  explicit Pipe(const MemoryStreamOptions& options)
      : capacity_(options.capacity_bytes), max_chunk_(options.max_chunk_bytes) {}

  absl::StatusOr<IoResult> Read(absl::Span<char> out) {
    if (out.empty()) return absl::InvalidArgumentError("no room to read into");
    Callback writable;
    size_t taken = 0;
    {
      std::lock_guard lock(mutex_);
      if (unread() == 0) return IoResult{0, closed_ ? IoState::kClosed : IoState::kWouldBlock};
      taken = Chunk(std::min(out.size(), unread()));
      bytes_.copy(out.data(), taken, read_);
      read_ += taken;
      Compact();
      writable = std::exchange(writable_, nullptr);
    }
    CallIfSet(writable);
    return IoResult{taken, IoState::kOk};
  }

  absl::StatusOr<IoResult> Write(absl::Span<const std::string_view> pieces) {
    Callback readable;
    size_t written = 0;
    {
      std::lock_guard lock(mutex_);
      if (closed_) return IoResult{0, IoState::kClosed};
      written = Append(pieces);
      if (written == 0) {
        const bool empty = std::all_of(pieces.begin(), pieces.end(),
                                       [](std::string_view piece) { return piece.empty(); });
        return IoResult{0, empty ? IoState::kOk : IoState::kWouldBlock};
      }
      readable = std::exchange(readable_, nullptr);
    }
    CallIfSet(readable);
    return IoResult{written, IoState::kOk};
  }

  void WhenReadable(Callback ready) {
    {
      std::lock_guard lock(mutex_);
      if (unread() == 0 && !closed_) {
        readable_ = std::move(ready);
        return;
      }
    }
    ready();
  }

  void WhenWritable(Callback ready) {
    {
      std::lock_guard lock(mutex_);
      if (unread() >= capacity_ && !closed_) {
        writable_ = std::move(ready);
        return;
      }
    }
    ready();
  }

  void WhenClosed(Callback closed) {
    {
      std::lock_guard lock(mutex_);
      if (!closed_ || !closed) {
        when_closed_ = std::move(closed);
        return;
      }
    }
    closed();
  }

  void CloseByWriter() { Close(/*drop_unread=*/false); }
  void CloseByReader() { Close(/*drop_unread=*/true); }

  void DropReadCallback() {
    std::lock_guard lock(mutex_);
    readable_ = nullptr;
    when_closed_ = nullptr;
  }
  void DropWriteCallback() {
    std::lock_guard lock(mutex_);
    writable_ = nullptr;
  }

 private:
  size_t unread() const { return bytes_.size() - read_; }

  size_t Chunk(size_t bytes) const { return max_chunk_ == 0 ? bytes : std::min(bytes, max_chunk_); }

  size_t Append(absl::Span<const std::string_view> pieces) {
    const size_t room = Chunk(capacity_ - unread());
    size_t written = 0;
    for (std::string_view piece : pieces) {
      const std::string_view part = piece.substr(0, room - written);
      bytes_.append(part);
      written += part.size();
    }
    return written;
  }

  // Moves the unread bytes to the front now and then, so that each is moved once at most on
  // average.
  void Compact() {
    if (read_ < unread()) return;
    bytes_.erase(0, read_);
    read_ = 0;
  }

  void Close(bool drop_unread) {
    Callback readable;
    Callback writable;
    Callback closed;
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      if (drop_unread) {
        bytes_.clear();
        read_ = 0;
      }
      readable = std::exchange(readable_, nullptr);
      writable = std::exchange(writable_, nullptr);
      closed = std::exchange(when_closed_, nullptr);
    }
    CallIfSet(readable);
    CallIfSet(writable);
    CallIfSet(closed);
  }

  const size_t capacity_;
  const size_t max_chunk_;
  std::mutex mutex_;
  std::string bytes_;  // this and below: guarded by mutex_
  size_t read_ = 0;    // bytes at the front of bytes_ that were read already
  bool closed_ = false;
  Callback readable_;
  Callback writable_;
  Callback when_closed_;
};

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out, std::optional<uid_t> peer_uid)
      : in_(std::move(in)), out_(std::move(out)), peer_uid_(peer_uid) {}

  ~MemoryStream() override {
    in_->DropReadCallback();
    out_->DropWriteCallback();
    Shutdown();
  }

  absl::StatusOr<IoResult> Read(absl::Span<char> out) override { return in_->Read(out); }

  absl::StatusOr<IoResult> Write(absl::Span<const std::string_view> pieces) override {
    return out_->Write(pieces);
  }

  void WhenReadable(Callback ready) override { in_->WhenReadable(std::move(ready)); }

  void WhenWritable(Callback ready, absl::Duration /*patience*/) override {
    out_->WhenWritable(std::move(ready));
  }

  // The other end closes both directions or none.
  void WhenGone(Callback gone) override { in_->WhenClosed(std::move(gone)); }

  void Shutdown() override {
    in_->CloseByReader();
    out_->CloseByWriter();
  }

  std::optional<uid_t> peer_uid() const override { return peer_uid_; }

 private:
  const std::shared_ptr<Pipe> in_;
  const std::shared_ptr<Pipe> out_;
  const std::optional<uid_t> peer_uid_;
};

}  // namespace

std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> MakeMemoryStreamPair(
    const MemoryStreamOptions& options) {
  auto forth = std::make_shared<Pipe>(options);
  auto back = std::make_shared<Pipe>(options);
  return {std::make_unique<MemoryStream>(back, forth, options.peer_uid),
          std::make_unique<MemoryStream>(forth, back, options.peer_uid)};
}

}  // namespace superfluid
