// Transcribes what a microphone's pipe says, while it says it.
//
// usage: arecord -t raw -f S16_LE -r 16000 -c 1 | live_audio SOCKET
//
// One thread reads standard input and sends it; the main thread prints segments. Audio is sent no
// further ahead than the worker likes: beyond 30 s it would end the request.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "protocol/client/link_client.h"
#include "protocol/messages/messages.h"

namespace {

namespace linkw = superfluid::linkw;

constexpr uint32_t kRate = 16'000;
constexpr int64_t kBytesPerMs = kRate * 2 / 1000;
constexpr int64_t kMaxAheadMs = 10'000;

// How far the worker is, for the thread that sends.
class Pace {
 public:
  void Note(int64_t audio_ms, bool over) {
    const std::lock_guard lock(mutex_);
    audio_ms_ = audio_ms;
    over_ = over_ || over;
    changed_.notify_all();
  }

  // Waits until no more than kMaxAheadMs of `sent_ms` are not consumed; false: it is over.
  bool AwaitRoom(int64_t sent_ms) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return over_ || sent_ms - audio_ms_ <= kMaxAheadMs; });
    return !over_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t audio_ms_ = 0;
  bool over_ = false;
};

void SendInput(linkw::TranscriptionStream& stream, Pace& pace) {
  std::array<char, 3200> block = {};  // a tenth of a second
  int64_t sent = 0;
  while (pace.AwaitRoom(sent / kBytesPerMs)) {
    const ssize_t got = read(STDIN_FILENO, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    sent += got;
    if (!stream.PushAudio(std::string(block.data(), static_cast<size_t>(got))).ok()) return;
  }
  stream.PushAudio(std::string(), /*end_of_stream=*/true).IgnoreError();
}

int PrintUntilTheEnd(linkw::TranscriptionStream& stream, Pace& pace) {
  while (true) {
    // Progress is heard inside of Next: waking now and then passes it on.
    const auto event = stream.Next(linkw::Deadline::After(absl::Milliseconds(100)));
    if (absl::IsDeadlineExceeded(event.status())) {
      pace.Note(stream.audio_ms(), /*over=*/false);
      continue;
    }
    pace.Note(stream.audio_ms(), !event.ok() || event->index() == 1);
    if (!event.ok()) {
      std::cerr << event.status().message() << "\n";
      return 3;
    }
    if (const auto* segment = std::get_if<linkw::TranscribeSegment>(&*event)) {
      std::cout << segment->start_ms << " to " << segment->end_ms << " ms: " << segment->text
                << std::endl;
      continue;
    }
    const auto& answer = std::get<linkw::StateSyncResult>(*event);
    if (answer.status == linkw::Status::kOk) return 0;
    std::cerr << linkw::StatusName(answer.status) << ": " << answer.message << "\n";
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: live_audio SOCKET\n";
    return 2;
  }
  const auto client = linkw::LinkClient::Connect(argv[1], {.wait_for_listener = true});
  if (!client.ok()) {
    std::cerr << client.status().message() << "\n";
    return 3;
  }
  linkw::Transcribe request;
  request.audio = linkw::AudioLive{{.sample_rate_hz = kRate, .channels = 1}};
  request.stream = true;
  request.progress_ms = 500;
  const auto stream = (*client)->Transcribe(request);
  if (!stream.ok()) {
    std::cerr << stream.status().message() << "\n";
    return 3;
  }
  Pace pace;
  std::thread sender(SendInput, std::ref(**stream), std::ref(pace));
  const int code = PrintUntilTheEnd(**stream, pace);
  sender.join();
  return code;
}
