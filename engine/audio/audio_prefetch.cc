#include "engine/audio/audio_prefetch.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace superfluid {
namespace {

using Clock = std::chrono::steady_clock;
using OpenFunction = std::function<absl::StatusOr<std::unique_ptr<AudioSource>>()>;

constexpr size_t kBlockSamples = kEngineSampleRateHz / 10;  // decoded at once
// A starved reader is told when there is so much, or when it has waited so long: a fast file wakes
// it seldom, a slow one as soon as there is anything.
constexpr size_t kWakeSamples = kEngineSampleRateHz / 4;
constexpr std::chrono::milliseconds kWakeAfter(20);

size_t Samples(absl::Duration duration) {
  return static_cast<size_t>(absl::ToDoubleSeconds(duration) * kEngineSampleRateHz);
}

absl::Status NoMemory() {
  return absl::ResourceExhaustedError("there is no memory to decode the audio with");
}

// Calls `function`, which returns a StatusOr, and makes a lack of memory a Status.
template <class Function>
auto WithMemory(const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return NoMemory();
  }
}

// Shared by both sides. The executor's side is one task at a time, which alone touches the source;
// `scheduled_` says whether there is one.
class Prefetch : public std::enable_shared_from_this<Prefetch> {
 public:
  Prefetch(std::shared_ptr<BlockingExecutor> executor, PrefetchEvents events,
           const PrefetchLimits& limits)
      : executor_(std::move(executor)),
        events_(std::move(events)),
        most_(Samples(limits.most)),
        limit_(Samples(limits.at_start)) {}

  // The executor's side.
  void Open(const OpenFunction& open);
  void Fill();

  // The reader's side.
  absl::StatusOr<AudioSource::Block> Read(absl::Span<float> out);
  std::optional<absl::Duration> total_duration() const { return total_duration_; }
  std::string Remark() const;
  void Abandon();

 private:
  enum class Next { kDecode, kPause, kClose };

  Next WhatIsNext();
  void DecodeBlock();
  bool Append(std::vector<float> samples, const absl::StatusOr<AudioSource::Block>& read);
  bool ReaderIsToBeWoken();
  size_t Take(absl::Span<float> out);
  bool MustSchedule();
  void Schedule();

  const std::shared_ptr<BlockingExecutor> executor_;
  const PrefetchEvents events_;
  const size_t most_;
  std::unique_ptr<AudioSource> source_;           // of the task
  std::optional<absl::Duration> total_duration_;  // constant once opened

  mutable std::mutex mutex_;  // guards what follows
  size_t limit_;              // of samples that are decoded and not read
  std::deque<std::vector<float>> blocks_;
  size_t taken_ = 0;   // samples of the first block that were read
  size_t unread_ = 0;  // samples in blocks_, without those
  bool over_ = false;  // nothing follows blocks_ but final_
  absl::Status final_;
  std::string remark_;      // set when over_ is
  bool scheduled_ = true;   // stays so once the source is closed
  bool abandoned_ = false;  // nobody reads any more
  std::optional<Clock::time_point> starved_since_;
};

// The half that the engine reads.
class PrefetchedSource : public AudioSource {
 public:
  explicit PrefetchedSource(std::shared_ptr<Prefetch> prefetch) : prefetch_(std::move(prefetch)) {}
  ~PrefetchedSource() override { prefetch_->Abandon(); }
  PrefetchedSource(const PrefetchedSource&) = delete;
  PrefetchedSource& operator=(const PrefetchedSource&) = delete;

  absl::StatusOr<Block> Read(absl::Span<float> out) override { return prefetch_->Read(out); }
  std::optional<absl::Duration> TotalDuration() const override {
    return prefetch_->total_duration();
  }
  bool IsLive() const override { return false; }
  std::string Remark() const override { return prefetch_->Remark(); }

 private:
  std::shared_ptr<Prefetch> prefetch_;
};

void Prefetch::Open(const OpenFunction& open) {
  absl::StatusOr<std::unique_ptr<AudioSource>> opened = WithMemory(open);
  if (!opened.ok()) return events_.opened(opened.status());
  source_ = *std::move(opened);
  total_duration_ = source_->TotalDuration();
  events_.opened(std::make_unique<PrefetchedSource>(shared_from_this()));
  Fill();
}

void Prefetch::Fill() {
  Next next = WhatIsNext();
  for (; next == Next::kDecode; next = WhatIsNext()) DecodeBlock();
  if (next == Next::kClose) source_.reset();
}

// After kPause another task may run already; after kClose none follows.
Prefetch::Next Prefetch::WhatIsNext() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (abandoned_ || over_) return Next::kClose;
  if (unread_ < limit_) return Next::kDecode;
  scheduled_ = false;
  return Next::kPause;
}

void Prefetch::DecodeBlock() {
  std::vector<float> samples;
  const absl::StatusOr<AudioSource::Block> read = WithMemory([&] {
    samples.resize(kBlockSamples);
    return source_->Read(absl::MakeSpan(samples));
  });
  if (Append(std::move(samples), read)) events_.more();
}

// Returns whether the reader is to be woken.
bool Prefetch::Append(std::vector<float> samples, const absl::StatusOr<AudioSource::Block>& read) {
  const bool over = !read.ok() || read->state == AudioSource::State::kEnd;
  std::string remark = over ? source_->Remark() : "";
  const std::lock_guard<std::mutex> lock(mutex_);
  over_ = over;
  final_ = read.status();
  remark_ = std::move(remark);
  const size_t frames = read.ok() ? std::min(read->frames, samples.size()) : 0;
  if (frames > 0 && !abandoned_) {
    samples.resize(frames);
    blocks_.push_back(std::move(samples));
    unread_ += frames;
  }
  return ReaderIsToBeWoken();
}

bool Prefetch::ReaderIsToBeWoken() {
  if (!starved_since_.has_value() || abandoned_) return false;
  const bool late = unread_ > 0 && Clock::now() - *starved_since_ >= kWakeAfter;
  if (!over_ && !late && unread_ < kWakeSamples) return false;
  starved_since_.reset();
  return true;
}

absl::StatusOr<AudioSource::Block> Prefetch::Read(absl::Span<float> out) {
  AudioSource::Block block;
  bool schedule = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    limit_ = most_;
    block.frames = Take(out);
    schedule = MustSchedule();
    if (unread_ == 0 && over_) {
      if (!final_.ok() && block.frames == 0) return final_;
      if (final_.ok()) block.state = AudioSource::State::kEnd;
    } else if (block.frames < out.size()) {
      block.state = AudioSource::State::kStarved;
      starved_since_ = Clock::now();
    }
  }
  if (schedule) Schedule();
  return block;
}

size_t Prefetch::Take(absl::Span<float> out) {
  size_t done = 0;
  while (done < out.size() && !blocks_.empty()) {
    const std::vector<float>& block = blocks_.front();
    const size_t count = std::min(out.size() - done, block.size() - taken_);
    std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(taken_), count, out.begin() + done);
    done += count;
    taken_ += count;
    if (taken_ < block.size()) break;
    blocks_.pop_front();
    taken_ = 0;
  }
  unread_ -= done;
  return done;
}

bool Prefetch::MustSchedule() {
  if (scheduled_ || unread_ * 2 >= limit_) return false;
  scheduled_ = true;
  return true;
}

void Prefetch::Schedule() {
  executor_->Continue([self = shared_from_this()] { self->Fill(); });
}

std::string Prefetch::Remark() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return remark_;
}

void Prefetch::Abandon() {
  bool schedule = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    abandoned_ = true;
    blocks_.clear();
    unread_ = 0;
    schedule = !std::exchange(scheduled_, true);
  }
  if (schedule) Schedule();
}

}  // namespace

absl::Status PrefetchAudio(std::shared_ptr<BlockingExecutor> executor, OpenFunction open,
                           PrefetchEvents events, const PrefetchLimits& limits) {
  auto prefetch = std::make_shared<Prefetch>(executor, std::move(events), limits);
  return executor->Begin(
      [prefetch = std::move(prefetch), open = std::move(open)] { prefetch->Open(open); });
}

}  // namespace superfluid
