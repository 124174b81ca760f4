// Transcribes many files at once over one link, and cancels one of them.
//
// usage: many_files SOCKET CANCEL FILE...
//
// CANCEL is the number of the file that is cancelled after its first segment, from 1; 0: none. The
// worker reads the files itself, so their paths are made absolute here.
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/client/link_client.h"
#include "protocol/messages/messages.h"

namespace {

namespace linkw = superfluid::linkw;

std::mutex output_mutex;

void Print(const std::string& file, const std::string& text) {
  const std::lock_guard lock(output_mutex);
  std::cout << file << ": " << text << std::endl;
}

// What became of the request, for people.
std::string Outcome(const linkw::StateSyncResult& answer) {
  if (answer.status == linkw::Status::kOk) {
    return "OK: " + std::get<linkw::TranscribeResult>(answer.reply).text;
  }
  std::string text(linkw::StatusName(answer.status));
  if (const auto* result = std::get_if<linkw::TranscribeResult>(&answer.reply)) {
    return text + " after " + std::to_string(result->segments.size()) + " segments, " +
           std::to_string(result->stats.steps_after_cancel) + " steps after the cancel";
  }
  return text + ": " + answer.message;
}

// Reads one stream to its end. A stream that nobody reads holds up the whole link, so each has a
// thread. `cancel`: after the first segment.
void Follow(const std::string& file, linkw::TranscriptionStream& stream, bool cancel) {
  while (true) {
    const auto event = stream.Next();
    if (!event.ok()) return Print(file, std::string(event.status().message()));
    if (const auto* answer = std::get_if<linkw::StateSyncResult>(&*event)) {
      return Print(file, Outcome(*answer));
    }
    if (cancel) stream.Cancel().IgnoreError();  // any number of times
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: many_files SOCKET CANCEL FILE...\n";
    return 2;
  }
  const auto client = linkw::LinkClient::Connect(argv[1], {.wait_for_listener = true});
  if (!client.ok()) {
    std::cerr << client.status().message() << "\n";
    return 3;
  }
  std::cout << "up to " << (*client)->hello_ack().limits.max_transcriptions
            << " may be open on this link" << std::endl;
  const int cancelled = std::atoi(argv[2]);
  std::vector<std::unique_ptr<linkw::TranscriptionStream>> streams;
  std::vector<std::thread> threads;
  for (int i = 3; i < argc; ++i) {
    linkw::Transcribe request;
    request.audio = linkw::AudioPath{std::filesystem::absolute(argv[i]).string()};
    request.stream = true;
    auto stream = (*client)->Transcribe(request);
    if (!stream.ok()) {
      Print(argv[i], std::string(stream.status().message()));
      continue;
    }
    streams.push_back(*std::move(stream));
    threads.emplace_back(Follow, std::string(argv[i]), std::ref(*streams.back()),
                         i - 2 == cancelled);
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}
