#include "tests/actors/worker_fixture.h"

#include <algorithm>
#include <random>

#include "actors/runtime/caf_compat.h"
#include "caf/send.hpp"
#include "engine/sim/sim_engine.h"
#include "protocol/codec/codec.h"
#include "protocol/transport/memory_stream.h"
#include "shm/memory_fd_channel.h"

namespace superfluid {

void ScriptedClock::Spend(absl::Duration work) {
  ++steps_;
  const std::function<void()> hook = inside_step;  // which may replace itself
  if (hook) hook();
  scheduler_.clock().current_time +=
      std::chrono::duration_cast<caf::actor_clock::duration_type>(absl::ToChronoNanoseconds(work));
}

absl::Status ScriptedExecutor::Begin(Task task) {
  if (is_full) return absl::ResourceExhaustedError("too many files wait to be read");
  Continue(std::move(task));
  return absl::OkStatus();
}

void ScriptedExecutor::RunOne() {
  const Task task = std::move(tasks_.front());
  tasks_.pop_front();
  task();
}

Peer::Peer(std::unique_ptr<ByteStream> stream, std::unique_ptr<FdChannel> descriptors)
    : stream_(std::move(stream)), descriptors_(std::move(descriptors)) {}

uint64_t Peer::Send(const linkw::DriverMessage& message) {
  const linkw::EncodedMessage encoded = linkw::Serialize(message);
  const uint64_t seq = encoder_.next_seq();
  const absl::StatusOr<std::string> frame = encoder_.Encode(encoded.type, 0, encoded.payload);
  EXPECT_TRUE(frame.ok()) << frame.status();
  SendRaw(*frame);
  return seq;
}

bool Peer::SendIfRoom(const linkw::DriverMessage& message) {
  const auto flush = [this] {
    const std::string_view bytes = backlog_;
    const absl::StatusOr<IoResult> written = stream_->Write(absl::MakeConstSpan(&bytes, 1));
    if (written.ok()) backlog_.erase(0, written->bytes);
  };
  if (!backlog_.empty()) flush();
  if (!backlog_.empty()) return false;
  const linkw::EncodedMessage encoded = linkw::Serialize(message);
  backlog_ = *encoder_.Encode(encoded.type, 0, encoded.payload);
  flush();
  return true;
}

uint64_t Peer::SendHello(linkw::Role role) {
  linkw::Hello hello;
  hello.client_name = "test";
  hello.role = role;
  return Send(hello);
}

void Peer::SendRaw(std::string_view bytes) {
  const absl::StatusOr<IoResult> written = stream_->Write(absl::MakeConstSpan(&bytes, 1));
  ASSERT_TRUE(written.ok()) << written.status();
  if (written->state == IoState::kOk) {
    ASSERT_EQ(written->bytes, bytes.size()) << "the stream is too small for this test";
  }
}

void Peer::SendFd(uint64_t tag, int fd) {
  const absl::StatusOr<IoState> sent = descriptors_->Send(tag, fd);
  ASSERT_TRUE(sent.ok() && *sent == IoState::kOk);
}

std::optional<TaggedFd> Peer::ReceiveFd() {
  absl::StatusOr<FdReceiveResult> received = descriptors_->Receive();
  if (!received.ok()) return std::nullopt;
  return std::move(received->item);
}

bool Peer::descriptors_closed() {
  const absl::StatusOr<FdReceiveResult> received = descriptors_->Receive();
  return received.ok() && received->state == IoState::kClosed;
}

void Peer::HangUp() {
  stream_->Shutdown();
  if (descriptors_ != nullptr) descriptors_->Shutdown();
}

void Peer::Read(size_t max_bytes) {
  while (!closed_ && max_bytes > 0) {
    absl::Span<char> space = decoder_.Prepare();
    const absl::StatusOr<IoResult> read =
        stream_->Read(space.subspan(0, std::min(space.size(), max_bytes)));
    ASSERT_TRUE(read.ok()) << read.status();
    closed_ = read->state == IoState::kClosed;
    if (read->state != IoState::kOk) break;
    max_bytes -= read->bytes;
    decoder_.Commit(read->bytes);
    while (true) {
      absl::StatusOr<std::optional<linkw::Frame>> frame = decoder_.Next();
      ASSERT_TRUE(frame.ok()) << frame.status();
      if (!frame->has_value()) break;
      absl::StatusOr<linkw::WorkerMessage> message =
          linkw::ParseWorkerMessage((*frame)->type(), (*frame)->payload);
      ASSERT_TRUE(message.ok()) << message.status();
      received_.push_back({.seq = (*frame)->header.seq,
                           .correlation = (*frame)->header.correlation,
                           .message = *std::move(message)});
    }
  }
}

Received Peer::Take() {
  if (received_.empty()) {
    ADD_FAILURE() << "no message arrived";
    return {};
  }
  Received received = std::move(received_.front());
  received_.pop_front();
  return received;
}

WorkerFixture::WorkerFixture() {
  compat::UseTestScheduler(caf_config_);
  system_ = std::make_unique<caf::actor_system>(caf_config_);
  // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer): the configuration comes first
  scheduler_ = dynamic_cast<caf::scheduler::test_coordinator*>(&system_->scheduler());
  // Zero would read as "no step is running".
  scheduler_->clock().current_time += std::chrono::seconds(1);
  clock_ = std::make_shared<ScriptedClock>(*scheduler_);
  config.readers = readers_;
  config.make_token = [] { return linkw::LinkToken{7}; };
  config.on_exit = [this](ExitCode code, std::string reason) {
    EXPECT_FALSE(exit_.has_value()) << "the worker ended twice";
    exit_ = {code, std::move(reason)};
  };
  config.on_engine_stuck = [this](absl::Duration age) { stuck_.push_back(age); };
}

WorkerFixture::~WorkerFixture() {
  clock_->inside_step = nullptr;
  readers_->hangs = false;
  for (Peer& peer : peers_) peer.HangUp();
  if (supervisor_ != nullptr && !exit_) {
    compat::SendFromOutside(supervisor_, ShutDown{.scope = DrainScope::kEverything});
  }
  Run();
  supervisor_ = nullptr;
  peers_.clear();
  // Drops what timers hold.
  while (scheduler_->trigger_timeouts() > 0) scheduler_->run();
}

void WorkerFixture::Start() {
  if (config.make_engine == nullptr) {
    config.make_engine = [this] {
      EngineConfig engine_config;
      engine_config.options = engine_options;
      return MakeSimEngine(engine_config, clock_);
    };
  }
  supervisor_ =
      compat::Spawn(*system_, compat::Placement::kPooled, SupervisorBehavior, config, progress_);
  compat::SendFromOutside(supervisor_, StartWorker{});
  Run();
}

Peer& WorkerFixture::Connect(bool with_descriptors, size_t capacity_bytes, bool inherited) {
  auto [ours, theirs] = MakeMemoryStreamPair({.capacity_bytes = capacity_bytes});
  std::unique_ptr<FdChannel> our_channel;
  FramesConnected connected{
      .stream = std::move(theirs), .inherited = inherited, .peer_pid = peer_pid};
  if (with_descriptors) {
    auto [near, far] = MakeMemoryFdChannelPair();
    our_channel = std::move(near);
    connected.descriptors = std::move(far);
  }
  if (wrap_stream) connected.stream = wrap_stream(connected.stream);
  if (wrap_channel && with_descriptors) connected.descriptors = wrap_channel(connected.descriptors);
  compat::SendFromOutside(supervisor_, connected);
  return peers_.emplace_back(std::move(ours), std::move(our_channel));
}

Peer& WorkerFixture::ConnectDriver(bool with_descriptors) {
  Peer& peer = Connect(with_descriptors);
  const uint64_t hello = peer.SendHello();
  Run();
  peer.Expect<linkw::HelloAck>(hello);
  return peer;
}

Peer& WorkerFixture::ConnectObserver() {
  Peer& peer = Connect(false);
  const uint64_t hello = peer.SendHello(linkw::Role::kObserver);
  Run();
  peer.Expect<linkw::HelloAck>(hello);
  return peer;
}

void WorkerFixture::Run() {
  // Reading makes room for writers, which may then have more to do.
  size_t ran = 0;
  do {
    ran = RunSome(100'000);
    ReadAll();
    scheduler_->advance_time(caf::timespan(0));
  } while (ran > 0 || scheduler_->has_job());
}

size_t WorkerFixture::RunSome(size_t events) {
  size_t ran = 0;
  while (ran < events && RunOne()) ++ran;
  return ran;
}

// The scheduler would let one actor run until its mailbox is empty; here all that are ready take
// turns (or a random one goes next), as threads would.
bool WorkerFixture::RunOne() {
  auto& jobs = scheduler_->jobs;
  const size_t ready = jobs.size() + (readers_->HasTask() ? 1 : 0);
  const size_t next = random_order && ready > 0 ? schedule() % ready : (jobs.size() > 1 ? 1 : 0);
  if (next == jobs.size() && readers_->HasTask()) {
    readers_->RunOne();
    return true;
  }
  if (jobs.size() > 1) {
    std::rotate(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(next), jobs.end());
  }
  return scheduler_->try_run_once();
}

void WorkerFixture::ReadAll() {
  for (Peer& peer : peers_) peer.Read();
}

void WorkerFixture::Advance(absl::Duration time) {
  constexpr absl::Duration step = absl::Milliseconds(5);
  for (absl::Duration passed; passed < time; passed += step) {
    scheduler_->advance_time(absl::ToChronoNanoseconds(std::min(step, time - passed)));
    Run();
  }
}

linkw::StateSyncRequest WorkerFixture::LiveRequest(uint32_t deadline_ms) {
  linkw::Transcribe transcribe;
  transcribe.audio = linkw::AudioLive{
      {.sample_rate_hz = 16000, .channels = 1, .sample_format = linkw::SampleFormat::kS16}};
  transcribe.stream = true;
  transcribe.deadline_ms = deadline_ms;
  return {transcribe};
}

std::string WorkerFixture::Noise(int ms, uint32_t seed) {
  std::minstd_rand random(seed);
  std::string pcm(static_cast<size_t>(ms) * 32, '\0');
  for (char& byte : pcm) byte = static_cast<char>(random() >> 8);
  return pcm;
}

uint64_t WorkerFixture::SendTranscription(Peer& peer, int ms, uint32_t deadline_ms) {
  const uint64_t seq = peer.Send(LiveRequest(deadline_ms));
  peer.Send(linkw::TranscribeAudio{.request_seq = seq, .data = Noise(ms), .end_of_stream = true});
  return seq;
}

linkw::StateSyncResult WorkerFixture::TakeAll(Peer& peer, uint64_t seq,
                                              std::vector<linkw::TranscribeSegment>* segments) {
  while (!peer.empty()) {
    Received received = peer.Take();
    EXPECT_EQ(received.correlation, seq);
    if (auto* segment = std::get_if<linkw::TranscribeSegment>(&received.message)) {
      if (segments != nullptr) segments->push_back(*segment);
    } else {
      return std::get<linkw::StateSyncResult>(received.message);
    }
  }
  ADD_FAILURE() << "no final answer";
  return {};
}

}  // namespace superfluid
