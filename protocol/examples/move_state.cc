// Moves a sequence from one worker to another, and shows that it goes on there as it would have
// here.
//
// usage: move_state SOCKET OTHER-SOCKET TEXT
//
// For two workers of the same engine and model, whose tokens are bytes (`--engine sim`).
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "protocol/client/link_client.h"
#include "protocol/driver/driver_buffers.h"
#include "protocol/driver/driver_ops.h"
#include "protocol/driver/driver_rings.h"
#include "protocol/driver/expect_reply.h"
#include "protocol/messages/messages.h"

namespace {

namespace linkw = superfluid::linkw;

constexpr absl::Duration kTimeout = absl::Seconds(60);
constexpr uint64_t kEnvelopeBytes = 160;

struct Worker {
  std::unique_ptr<linkw::LinkClient> client;
  std::unique_ptr<linkw::DriverRings> rings;
  std::unique_ptr<linkw::DriverBuffers> buffers;
};

// Takes the value, or ends the program: an example has nobody to tell.
template <typename T>
T Must(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::cerr << value.status().message() << "\n";
  std::exit(1);
}

Worker Open(const char* socket) {
  Worker worker;
  worker.client = Must(linkw::LinkClient::Connect(socket, {.wait_for_listener = true}));
  worker.rings = Must(linkw::DriverRings::Attach(*worker.client));
  worker.buffers = Must(linkw::DriverBuffers::Open(*worker.client, kTimeout));
  return worker;
}

// Appends `input` to a sequence (0: a new one) and draws `max_tokens`.
linkw::LaneEvent Tick(Worker& worker, linkw::SequenceId sequence,
                      const std::vector<linkw::Token>& input, uint32_t max_tokens) {
  linkw::Lane lane{.sequence = sequence, .input = Must(worker.rings->WriteTokens(input))};
  lane.kind = max_tokens == 0 ? linkw::LaneKind::kPrefill : linkw::LaneKind::kDecode;
  lane.max_tokens = max_tokens;
  const auto result = Must(linkw::ExpectReply<linkw::TickResult>(
      worker.client->Request(linkw::TickSubmit{{.tick_id = 1, .lanes = {lane}}})));
  if (result.status != linkw::Status::kOk || result.events.lanes.empty()) std::exit(1);
  return result.events.lanes.front();
}

// Copies one state space of `sequence`, up to `boundary`, into `target` on the other worker. Both
// map the bytes, so what goes between two processes here could go between machines.
void Move(Worker& from, linkw::SequenceId sequence, Worker& to, linkw::SequenceId target,
          linkw::SpaceId space, uint64_t boundary) {
  const auto size = Must(linkw::ExpectResult<linkw::ExportSizeResult>(from.client->Call(
      linkw::ExportSize{.sequence = sequence, .space_id = space, .range = {0, boundary}})));
  linkw::DriverBuffer sealed = Must(from.buffers->Allocate(kEnvelopeBytes + size.required_bytes));
  Must(linkw::DriverOps(*from.client, kTimeout)
           .Run(linkw::Snapshot{.sequence = sequence,
                                .space_id = space,
                                .boundary_pos = boundary,
                                .buf_id = sealed.id(),
                                .sizing_gen = size.sizing_gen},
                linkw::Deadline::After(kTimeout)));
  linkw::DriverBuffer copy = Must(to.buffers->Attach(sealed.bytes().size()));
  std::memcpy(copy.bytes().data(), sealed.bytes().data(), sealed.bytes().size());
  Must(linkw::DriverOps(*to.client, kTimeout)
           .Run(linkw::Restore{.sequence = target, .space_id = space, .buf_id = copy.id()},
                linkw::Deadline::After(kTimeout)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: move_state SOCKET OTHER-SOCKET TEXT\n";
    return 2;
  }
  std::vector<linkw::Token> prompt;
  for (const char c : std::string(argv[3])) prompt.push_back(static_cast<unsigned char>(c));
  Worker here = Open(argv[1]);
  Worker there = Open(argv[2]);
  const linkw::LaneEvent made = Tick(here, {}, prompt, 0);

  // Every space must be able to end at the same position; what lies behind it is computed again.
  const auto& spaces = here.client->hello_ack().state_space_descriptors;
  uint64_t boundary = made.position;
  for (uint64_t before = 0; before != boundary;) {
    before = boundary;
    for (const auto& space : spaces) {
      const auto at = Must(linkw::ExpectResult<linkw::SnapshotBoundaryResult>(
          here.client->Call(linkw::SnapshotBoundary{made.sequence, space.space_id, boundary})));
      boundary = std::min(boundary, at.boundary);
    }
  }
  const auto target = Must(linkw::ExpectResult<linkw::CreateSequenceResult>(
      there.client->Call(linkw::CreateSequence{})));
  for (const auto& space : spaces) {
    Move(here, made.sequence, there, target.sequence, space.space_id, boundary);
  }

  const std::vector<linkw::Token> rest(prompt.begin() + static_cast<int64_t>(boundary),
                                       prompt.end());
  const auto drawn_here = Must(here.rings->ReadTokens(Tick(here, made.sequence, {}, 32).out));
  const auto drawn_there =
      Must(there.rings->ReadTokens(Tick(there, target.sequence, rest, 32).out));
  std::cout << "moved " << boundary << " of " << prompt.size() << " tokens in " << spaces.size()
            << " spaces; the next " << drawn_here.size() << " tokens are "
            << (drawn_here == drawn_there ? "the same" : "not the same") << std::endl;
  return drawn_here == drawn_there ? 0 : 1;
}
