#include "engine/audio/audio_prefetch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "engine/audio/blocking_thread_pool.h"

namespace superfluid {
namespace {

constexpr size_t kSecond = kEngineSampleRateHz;

// Counts 0, 1, 2 ... up to `samples`, each divided by a million.
class Counting : public AudioSource {
 public:
  explicit Counting(size_t samples, absl::Status end = absl::OkStatus(), bool* alive = nullptr)
      : samples_(samples), end_(std::move(end)), alive_(alive) {
    if (alive_ != nullptr) *alive_ = true;
  }
  ~Counting() override {
    if (alive_ != nullptr) *alive_ = false;
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    if (next_ == samples_ && !end_.ok()) return end_;
    Block block{.frames = std::min(out.size(), samples_ - next_)};
    for (size_t i = 0; i < block.frames; ++i) out[i] = static_cast<float>(next_++) / 1e6F;
    if (next_ == samples_ && end_.ok()) block.state = State::kEnd;
    return block;
  }
  std::optional<absl::Duration> TotalDuration() const override { return absl::Seconds(7); }
  bool IsLive() const override { return false; }
  std::string Remark() const override { return next_ == samples_ ? "counted" : ""; }

 private:
  const size_t samples_;
  const absl::Status end_;
  bool* const alive_;
  size_t next_ = 0;
};

// Runs a task when told to.
class ByHand : public BlockingExecutor {
 public:
  absl::Status Begin(Task task) override {
    if (refuses) return absl::ResourceExhaustedError("full");
    Continue(std::move(task));
    return absl::OkStatus();
  }
  void Continue(Task task) override { tasks.push_back(std::move(task)); }
  void RunOne() {
    const Task task = std::move(tasks.front());
    tasks.pop_front();
    task();
  }

  std::deque<Task> tasks;
  bool refuses = false;
};

class AudioPrefetchTest : public testing::Test {
 protected:
  absl::Status Begin(absl::StatusOr<std::unique_ptr<AudioSource>> source) {
    auto shared = std::make_shared<absl::StatusOr<std::unique_ptr<AudioSource>>>(std::move(source));
    return PrefetchAudio(executor_, [shared] { return std::move(*shared); },
                         {.opened = [this](auto opened) { opened_ = std::move(opened); },
                          .more = [this] { ++woken_; }});
  }
  void Open(std::unique_ptr<AudioSource> source) {
    ASSERT_TRUE(Begin(std::move(source)).ok());
    executor_->RunOne();
    ASSERT_TRUE(opened_.ok()) << opened_.status();
  }
  // Reads `samples` at most; fewer until it is starved, or over.
  absl::StatusOr<AudioSource::State> Read(size_t samples) {
    std::vector<float> room(samples);
    const absl::StatusOr<AudioSource::Block> block = (*opened_)->Read(absl::MakeSpan(room));
    if (!block.ok()) return block.status();
    for (size_t i = 0; i < block->frames; ++i) {
      EXPECT_EQ(room[i], static_cast<float>(heard_++) / 1e6F);
    }
    return block->state;
  }

  std::shared_ptr<ByHand> executor_ = std::make_shared<ByHand>();
  absl::StatusOr<std::unique_ptr<AudioSource>> opened_ = absl::UnknownError("not yet");
  int woken_ = 0;
  size_t heard_ = 0;
};

TEST_F(AudioPrefetchTest, NothingIsReadOnTheCallersThread) {
  bool called = false;
  ASSERT_TRUE(
      PrefetchAudio(executor_,
                    [&]() -> absl::StatusOr<std::unique_ptr<AudioSource>> {
                      called = true;
                      return absl::NotFoundError("none");
                    },
                    {.opened = [this](auto opened) { opened_ = std::move(opened); }, .more = [] {}})
          .ok());
  EXPECT_FALSE(called);
  executor_->RunOne();
  EXPECT_TRUE(absl::IsNotFound(opened_.status()));
  EXPECT_TRUE(executor_->tasks.empty());
}

TEST_F(AudioPrefetchTest, ARefusalOfTheExecutorIsTheCallersAndNoEventFollows) {
  executor_->refuses = true;
  EXPECT_TRUE(absl::IsResourceExhausted(Begin(std::make_unique<Counting>(1))));
  EXPECT_TRUE(absl::IsUnknown(opened_.status()));
}

TEST_F(AudioPrefetchTest, TheSamplesAreThoseOfTheSource) {
  Open(std::make_unique<Counting>(25 * kSecond + 7));
  EXPECT_EQ((*opened_)->TotalDuration(), absl::Seconds(7));
  EXPECT_FALSE((*opened_)->IsLive());
  for (;;) {
    const absl::StatusOr<AudioSource::State> state = Read(1000);
    ASSERT_TRUE(state.ok()) << state.status();
    if (*state == AudioSource::State::kEnd) break;
    if (*state == AudioSource::State::kStarved) executor_->RunOne();
  }
  EXPECT_EQ(heard_, 25 * kSecond + 7);
  EXPECT_EQ((*opened_)->Remark(), "counted");
}

TEST_F(AudioPrefetchTest, LittleIsDecodedBeforeTheFirstReadAndABoundedAmountAfterIt) {
  Open(std::make_unique<Counting>(100 * kSecond));
  EXPECT_TRUE(executor_->tasks.empty()) << "a second of it waits";
  EXPECT_EQ(*Read(100 * kSecond), AudioSource::State::kStarved);
  EXPECT_EQ(heard_, kSecond);
  executor_->RunOne();
  EXPECT_TRUE(executor_->tasks.empty()) << "it is full";
  EXPECT_EQ(*Read(100 * kSecond), AudioSource::State::kStarved);
  EXPECT_EQ(heard_, 11 * kSecond);
}

TEST_F(AudioPrefetchTest, FillingGoesOnWhenHalfOfItWasRead) {
  Open(std::make_unique<Counting>(100 * kSecond));
  Read(1).IgnoreError();
  executor_->RunOne();
  EXPECT_EQ(*Read(4 * kSecond), AudioSource::State::kMore);
  EXPECT_TRUE(executor_->tasks.empty());
  EXPECT_EQ(*Read(2 * kSecond), AudioSource::State::kMore);
  EXPECT_EQ(executor_->tasks.size(), 1u);
  EXPECT_EQ(*Read(10), AudioSource::State::kMore);
  EXPECT_EQ(executor_->tasks.size(), 1u) << "one task at a time";
}

TEST_F(AudioPrefetchTest, AStarvedReaderIsWokenOnceAndAnotherNotAtAll) {
  Open(std::make_unique<Counting>(100 * kSecond));
  Read(1).IgnoreError();
  executor_->RunOne();
  EXPECT_EQ(woken_, 0) << "it had what it asked for";
  EXPECT_EQ(*Read(100 * kSecond), AudioSource::State::kStarved);
  executor_->RunOne();
  EXPECT_EQ(woken_, 1);
}

TEST_F(AudioPrefetchTest, AStarvedReaderIsWokenForTheEnd) {
  Open(std::make_unique<Counting>(kSecond + 50));
  EXPECT_EQ(*Read(kSecond), AudioSource::State::kMore);
  EXPECT_EQ(*Read(100), AudioSource::State::kStarved);
  executor_->RunOne();
  EXPECT_EQ(woken_, 1);
  EXPECT_EQ(*Read(100), AudioSource::State::kEnd);
}

TEST_F(AudioPrefetchTest, AnErrorComesAfterWhatWasDecodedAndStays) {
  Open(std::make_unique<Counting>(kSecond / 2, absl::InvalidArgumentError("damaged")));
  EXPECT_EQ(*Read(kSecond), AudioSource::State::kMore);
  EXPECT_EQ(heard_, kSecond / 2);
  EXPECT_EQ(Read(1).status(), absl::InvalidArgumentError("damaged"));
  EXPECT_EQ(Read(1).status(), absl::InvalidArgumentError("damaged"));
}

TEST_F(AudioPrefetchTest, ALackOfMemoryIsAnError) {
  class NoMemory : public Counting {
   public:
    NoMemory() : Counting(10) {}
    absl::StatusOr<Block> Read(absl::Span<float> /*out*/) override { throw std::bad_alloc(); }
  };
  Open(std::make_unique<NoMemory>());
  EXPECT_TRUE(absl::IsResourceExhausted(Read(1).status()));
}

TEST_F(AudioPrefetchTest, TheSourceGoesOnTheExecutorOnly) {
  bool alive = false;
  Open(std::make_unique<Counting>(100 * kSecond, absl::OkStatus(), &alive));
  opened_ = absl::UnknownError("dropped");
  EXPECT_TRUE(alive);
  executor_->RunOne();
  EXPECT_FALSE(alive);
  EXPECT_TRUE(executor_->tasks.empty());
}

TEST_F(AudioPrefetchTest, AtItsEndTheSourceGoesBeforeItsReader) {
  bool alive = false;
  Open(std::make_unique<Counting>(10, absl::OkStatus(), &alive));
  EXPECT_FALSE(alive);
  EXPECT_EQ(*Read(10), AudioSource::State::kEnd);
  opened_ = absl::UnknownError("dropped");
  EXPECT_TRUE(executor_->tasks.empty());
}

TEST_F(AudioPrefetchTest, AReaderThatNobodyTakesIsClosedAtOnce) {
  bool alive = false;
  std::unique_ptr<AudioSource> source =
      std::make_unique<Counting>(100 * kSecond, absl::OkStatus(), &alive);
  auto shared = std::make_shared<std::unique_ptr<AudioSource>>(std::move(source));
  ASSERT_TRUE(PrefetchAudio(executor_, [shared] { return std::move(*shared); },
                            {.opened = [](auto) {}, .more = [] {}})
                  .ok());
  executor_->RunOne();
  EXPECT_FALSE(alive);
  EXPECT_TRUE(executor_->tasks.empty());
}

// With threads.

// Hangs in its second Read until it is let go.
class Hanging : public Counting {
 public:
  Hanging(absl::Notification* entered, std::shared_ptr<absl::Notification> release)
      : Counting(100 * kSecond), entered_(entered), release_(std::move(release)) {}

  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    if (++reads_ == 2) {
      entered_->Notify();
      release_->WaitForNotification();
    }
    return Counting::Read(out);
  }

 private:
  absl::Notification* entered_;
  std::shared_ptr<absl::Notification> release_;
  int reads_ = 0;
};

TEST(AudioPrefetchThreadsTest, AReadThatHangsStarvesItsReaderAndIsLeftBehind) {
  auto pool = std::make_shared<BlockingThreadPool>();
  auto release = std::make_shared<absl::Notification>();
  absl::Notification entered;
  absl::Notification opened;
  std::unique_ptr<AudioSource> source;
  ASSERT_TRUE(PrefetchAudio(pool,
                            [&]() -> absl::StatusOr<std::unique_ptr<AudioSource>> {
                              return std::make_unique<Hanging>(&entered, release);
                            },
                            {.opened =
                                 [&](absl::StatusOr<std::unique_ptr<AudioSource>> audio) {
                                   source = *std::move(audio);
                                   opened.Notify();
                                 },
                             .more = [] {}})
                  .ok());
  opened.WaitForNotification();
  entered.WaitForNotification();
  std::vector<float> room(100 * kSecond);
  EXPECT_EQ(source->Read(absl::MakeSpan(room))->state, AudioSource::State::kStarved);
  source.reset();  // does not wait
  release->Notify();
  EXPECT_EQ(pool->Stop(absl::Minutes(1)), 0u);
}

TEST(AudioPrefetchThreadsTest, ManyReadersGetAllOfTheirAudio) {
  auto pool = std::make_shared<BlockingThreadPool>(BlockingThreadPool::Options{.max_threads = 3});
  constexpr int kReaders = 12;
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&pool, i] {
      struct Wakes {
        std::mutex mutex;
        std::condition_variable changed;
        std::unique_ptr<AudioSource> source;
        int woken = 0;
      };
      auto wakes = std::make_shared<Wakes>();
      const size_t samples = 30 * kSecond + static_cast<size_t>(i) * 777;
      ASSERT_TRUE(PrefetchAudio(pool,
                                [samples]() -> absl::StatusOr<std::unique_ptr<AudioSource>> {
                                  return std::make_unique<Counting>(samples);
                                },
                                {.opened =
                                     [wakes](absl::StatusOr<std::unique_ptr<AudioSource>> audio) {
                                       const std::lock_guard<std::mutex> lock(wakes->mutex);
                                       wakes->source = *std::move(audio);
                                       wakes->changed.notify_all();
                                     },
                                 .more =
                                     [wakes] {
                                       const std::lock_guard<std::mutex> lock(wakes->mutex);
                                       ++wakes->woken;
                                       wakes->changed.notify_all();
                                     }})
                      .ok());
      std::unique_lock<std::mutex> lock(wakes->mutex);
      wakes->changed.wait(lock, [&] { return wakes->source != nullptr; });
      std::unique_ptr<AudioSource> source = std::move(wakes->source);
      std::vector<float> room(1600);
      size_t heard = 0;
      int starved = 0;
      for (;;) {
        lock.unlock();
        const absl::StatusOr<AudioSource::Block> block = source->Read(absl::MakeSpan(room));
        lock.lock();
        ASSERT_TRUE(block.ok());
        heard += block->frames;
        if (block->state == AudioSource::State::kEnd) break;
        if (block->state != AudioSource::State::kStarved) continue;
        ++starved;
        wakes->changed.wait(lock, [&] { return wakes->woken == starved; });
      }
      EXPECT_EQ(heard, samples);
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(pool->Stop(absl::Minutes(1)), 0u);
}

}  // namespace
}  // namespace superfluid
