#include <cstdio>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "protocol/client/link_client.h"
#include "protocol/messages/status.h"

namespace linkw = superfluid::linkw;

// example_client SOCKET FILE: prints the text of a recording, segment by segment.
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::StatusOr<std::unique_ptr<linkw::LinkClient>> client =
      linkw::LinkClient::Connect(argv[1], {.client_name = "example"});
  if (!client.ok()) {
    std::fprintf(stderr, "%s\n", client.status().ToString().c_str());
    return 1;
  }
  linkw::Transcribe request;
  request.audio = linkw::AudioPath{argv[2]};  // absolute: the worker opens it
  request.stream = true;
  const auto stream = (*client)->Transcribe(request);
  while (stream.ok()) {
    const auto event = (*stream)->Next();
    if (!event.ok()) break;  // the link is lost
    if (const auto* segment = std::get_if<linkw::TranscribeSegment>(&*event)) {
      std::printf("%s\n", segment->text.c_str());
      continue;
    }
    const auto& answer = std::get<linkw::StateSyncResult>(*event);
    if (answer.status == linkw::Status::kOk) return 0;
    std::fprintf(stderr, "%s: %s\n", std::string(linkw::StatusName(answer.status)).c_str(),
                 answer.message.c_str());
    return 1;
  }
  return 1;
}
