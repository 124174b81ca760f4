#ifndef SUPERFLUID_TESTS_ACTORS_WORKER_FIXTURE_H_
#define SUPERFLUID_TESTS_ACTORS_WORKER_FIXTURE_H_

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "actors/messages/engine_progress.h"
#include "actors/runtime/status_error.h"
#include "actors/supervision/supervisor.h"
#include "caf/actor_system.hpp"
#include "caf/scheduler/test_coordinator.hpp"
#include "caf/scoped_actor.hpp"
#include "engine/audio/blocking_executor.h"
#include "engine/sim/sim_clock.h"
#include "gtest/gtest.h"
#include "protocol/frames/frame.h"
#include "protocol/frames/frame_decoder.h"
#include "protocol/messages/messages.h"
#include "protocol/transport/byte_stream.h"
#include "shm/fd_channel.h"
#include "shm/fd_passing.h"

namespace superfluid {

// The sim engine's time, inside a fixture: a step moves the virtual clock, and a test may look in.
class ScriptedClock : public SimClock {
 public:
  explicit ScriptedClock(caf::scheduler::test_coordinator& scheduler) : scheduler_(scheduler) {}

  // Called inside every step, before its time has passed.
  std::function<void()> inside_step;

  void Spend(absl::Duration work) override;
  void Hang(absl::Duration limit) override { Spend(limit); }
  absl::Time Now() const override {
    return absl::UnixEpoch() + absl::FromChrono(scheduler_.clock().now().time_since_epoch());
  }
  int64_t steps() const { return steps_; }

 private:
  caf::scheduler::test_coordinator& scheduler_;
  int64_t steps_ = 0;
};

// Runs what reads recordings when the fixture says so. Threads: one.
class ScriptedExecutor : public BlockingExecutor {
 public:
  // While set, tasks wait: a file that hangs.
  bool hangs = false;
  // While set, nothing new is taken.
  bool is_full = false;

  absl::Status Begin(Task task) override;
  void Continue(Task task) override { tasks_.push_back(std::move(task)); }

  bool HasTask() const { return !hangs && !tasks_.empty(); }
  void RunOne();
  size_t waiting() const { return tasks_.size(); }

 private:
  std::deque<Task> tasks_;
};

// A received frame and its message.
struct Received {
  uint64_t seq = 0;
  uint64_t correlation = 0;
  linkw::WorkerMessage message;
};

// A peer of the worker under test, at the other end of a stream in memory.
class Peer {
 public:
  Peer(std::unique_ptr<ByteStream> stream, std::unique_ptr<FdChannel> descriptors);

  // Returns the frame's seq. The worker sees it when the fixture runs.
  uint64_t Send(const linkw::DriverMessage& message);
  // Sends unless an earlier frame still waits for room in the stream.
  bool SendIfRoom(const linkw::DriverMessage& message);
  uint64_t SendHello(linkw::Role role = linkw::Role::kDriver);
  void SendRaw(std::string_view bytes);
  void SendFd(uint64_t tag, int fd);
  std::optional<TaggedFd> ReceiveFd();
  bool descriptors_closed();
  void HangUp();
  void HangUpFrames() { stream_->Shutdown(); }
  void HangUpDescriptors() { descriptors_->Shutdown(); }

  // Takes what has arrived (at most `max_bytes`) out of the stream.
  void Read(size_t max_bytes = SIZE_MAX);

  // The oldest message that was read and not taken; a failure of the test if there is none.
  Received Take();
  // The same, which must be a T that answers `correlation`.
  template <class T>
  T Expect(uint64_t correlation) {
    Received received = Take();
    EXPECT_EQ(received.correlation, correlation);
    const T* content = std::get_if<T>(&received.message);
    EXPECT_NE(content, nullptr) << "got message " << received.message.index();
    return content != nullptr ? *content : T{};
  }
  bool empty() const { return received_.empty(); }
  bool closed() const { return closed_; }
  std::deque<Received>& received() { return received_; }

 private:
  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<FdChannel> descriptors_;
  linkw::FrameEncoder encoder_;
  std::string backlog_;  // of SendIfRoom
  linkw::FrameDecoder decoder_;
  std::deque<Received> received_;
  bool closed_ = false;
};

// A whole worker (all actors, the sim engine) on CAF's deterministic scheduler, in virtual time.
class WorkerFixture : public testing::Test {
 public:
  WorkerFixture();
  ~WorkerFixture() override;

  // Before Start, to be changed by a test.
  WorkerConfig config;
  std::vector<std::pair<std::string, std::string>> engine_options = {
      {"segment_ms", "100"}, {"steps_per_segment", "5"}, {"step_us", "2000"}};

  // Changes what the worker gets of the next connections, if set.
  std::function<std::shared_ptr<ByteStream>(std::shared_ptr<ByteStream>)> wrap_stream;
  std::function<std::shared_ptr<FdChannel>(std::shared_ptr<FdChannel>)> wrap_channel;

  // Of who connects next, as the system would say.
  pid_t peer_pid = 0;

  // Which of the ready actors runs next: each in turn, or a random one, by this generator.
  bool random_order = false;
  std::minstd_rand schedule;

 protected:
  // Spawns the worker and loads its engine.
  void Start();
  // Connects a peer; with a descriptor channel if it will need one.
  Peer& Connect(bool with_descriptors = true, size_t capacity_bytes = size_t{8} << 20,
                bool inherited = false);
  // Connects and shakes hands.
  Peer& ConnectDriver(bool with_descriptors = true);
  Peer& ConnectObserver();

  // Runs every actor until nothing is left to do at this moment of virtual time, and reads what the
  // peers got.
  void Run();
  // The same, but at most `events` handlers; returns how many ran.
  size_t RunSome(size_t events);
  bool RunOne();
  void ReadAll();
  // Lets virtual time pass, in small steps, running whatever becomes due.
  void Advance(absl::Duration time);

  // A Transcribe of live audio that streams its segments; audio follows with SendAudio.
  static linkw::StateSyncRequest LiveRequest(uint32_t deadline_ms = 0);
  // `ms` of noise as 16 kHz mono s16.
  static std::string Noise(int ms, uint32_t seed = 1);
  // A live transcription of `ms` of audio, all sent at once. Returns the request's seq.
  uint64_t SendTranscription(Peer& peer, int ms, uint32_t deadline_ms = 0);

  // Takes the segments of one request (in order, nothing else in between) and its final answer.
  static linkw::StateSyncResult TakeAll(Peer& peer, uint64_t seq,
                                        std::vector<linkw::TranscribeSegment>* segments = nullptr);
  static const linkw::TranscribeResult& ResultOf(const linkw::StateSyncResult& answer) {
    return std::get<linkw::TranscribeResult>(answer.reply);
  }

  caf::scheduler::test_coordinator& scheduler() { return *scheduler_; }
  int64_t EngineSteps() const { return clock_->steps(); }

  caf::actor_system_config caf_config_;
  std::unique_ptr<caf::actor_system> system_;
  caf::scheduler::test_coordinator* scheduler_ = nullptr;
  std::shared_ptr<ScriptedClock> clock_;
  std::shared_ptr<ScriptedExecutor> readers_ = std::make_shared<ScriptedExecutor>();
  std::shared_ptr<EngineProgress> progress_ = std::make_shared<EngineProgress>();
  Supervisor supervisor_;
  std::deque<Peer> peers_;
  std::optional<std::pair<ExitCode, std::string>> exit_;
  std::vector<absl::Duration> stuck_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ACTORS_WORKER_FIXTURE_H_
