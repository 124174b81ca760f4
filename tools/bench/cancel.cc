#include "tools/bench/cancel.h"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/bench/sim_driver.h"

namespace superfluid::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr absl::Duration kStep = absl::Milliseconds(20);
constexpr int kTicks = 64;
constexpr int kStreams = 256;

// A minute of silence, as a recording.
void WriteRecording(const std::string& path) {
  constexpr uint32_t kRate = 16'000;
  constexpr uint32_t kBytes = kRate * 2 * 60;
  std::string wav = "RIFF....WAVEfmt ................data....";
  const auto put = [&wav](size_t at, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      wav[at + static_cast<size_t>(i)] = static_cast<char>(value >> (8 * i));
  };
  put(4, 36 + kBytes, 4);
  put(16, 16, 4);
  put(20, 1, 2);  // PCM
  put(22, 1, 2);  // channels
  put(24, kRate, 4);
  put(28, kRate * 2, 4);
  put(32, 2, 2);
  put(34, 16, 2);
  put(40, kBytes, 4);
  std::ofstream(path, std::ios::binary) << wav << std::string(kBytes, 0);
}

class CancelRun {
 public:
  CancelRun(SimDriver& driver, std::string recording)
      : driver_(driver), recording_(std::move(recording)) {}

  // From the cancel to the last answer, in steps.
  absl::StatusOr<double> Once(absl::Duration head_start) {
    if (absl::Status status = Fill(); !status.ok()) return status;
    absl::SleepFor(head_start);
    const Clock::time_point begin = Clock::now();
    if (absl::Status status = driver_.SetStop(true); !status.ok()) return status;
    const absl::StatusOr<uint64_t> seq =
        driver_.client().Send(linkw::DriverMessage(linkw::TranscribeCancel{.request_seq = 0}));
    if (!seq.ok()) return seq.status();
    for (int answers = 0; answers < kTicks + kStreams; ++answers) {
      const absl::Status status = ReceiveFinal();
      if (!status.ok()) return status;
    }
    const std::chrono::duration<double> took = Clock::now() - begin;
    return took.count() / absl::ToDoubleSeconds(kStep);
  }

 private:
  absl::Status Fill() {
    if (absl::Status status = driver_.SetStop(false); !status.ok()) return status;
    for (int i = 0; i < kStreams; ++i) {
      const absl::StatusOr<uint64_t> seq = driver_.client().Send(linkw::DriverMessage(
          linkw::StateSyncRequest{linkw::Transcribe{.audio = linkw::AudioPath{recording_}}}));
      if (!seq.ok()) return seq.status();
    }
    for (int i = 0; i < kTicks; ++i) {
      if (const auto seq = driver_.SendTick(i); !seq.ok()) return seq.status();
    }
    return absl::OkStatus();
  }

  absl::Status ReceiveFinal() {
    while (true) {
      const absl::StatusOr<linkw::Frame> frame = driver_.client().Receive();
      if (!frame.ok()) return frame.status();
      if (frame->type() == linkw::MessageType::kTickResult ||
          frame->type() == linkw::MessageType::kStateSyncResult) {
        return absl::OkStatus();
      }
      if (frame->type() == linkw::MessageType::kError) {
        const auto error = linkw::ParseWorkerMessage(frame->type(), frame->payload);
        return absl::InternalError(error.ok() ? std::get<linkw::Error>(*error).message
                                              : "an ERROR frame");
      }
    }
  }

  SimDriver& driver_;
  const std::string recording_;
};

}  // namespace

absl::Status MeasureCancels(const Effort& effort, Report& report) {
  const ScratchFolder folder;
  const auto driver = SimDriver::Start(folder, "cancel", kStep, kTicks);
  if (!driver.ok()) return driver.status();
  const std::string recording = folder.Path("silence.wav");
  WriteRecording(recording);
  CancelRun run(**driver, recording);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> phase(0, 1);
  std::vector<double> steps;
  for (int i = 0; i < effort.cancels; ++i) {
    const absl::StatusOr<double> took = run.Once((10 + phase(random)) * kStep);
    if (!took.ok()) return took.status();
    steps.push_back(*took);
  }
  const Spread spread = SpreadOf(steps);
  const double p99 = Percentile(steps, 0.99);
  report.figures.push_back(
      {"cancel of 64 ticks, 256 streams: engine idle", "", "steps", spread, 0.25});
  report.figures.push_back(
      {"cancel of 64 ticks, 256 streams: p99", "", "steps", {p99, p99, p99}, 1});
  return absl::OkStatus();
}

}  // namespace superfluid::bench
