// Draws tokens for two sequences in the same ticks: what a serving daemon's scheduler does.
//
// usage: batched_ticks SOCKET TOKENS TEXT TEXT
//
// For an engine whose tokens are bytes (`superfluid_worker --engine sim`). Prompts are appended in
// one tick; then each tick draws up to eight tokens in either sequence, until both have TOKENS. A
// line for each sequence names the tokens that it drew.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "protocol/client/link_client.h"
#include "protocol/driver/driver_rings.h"
#include "protocol/driver/expect_reply.h"
#include "protocol/messages/messages.h"

namespace {

namespace linkw = superfluid::linkw;

struct Sequence {
  std::vector<linkw::Token> prompt;
  linkw::SequenceId id{};
  std::vector<linkw::Token> drawn;
};

// Runs one tick over `lanes`, and returns what became of each.
absl::StatusOr<std::vector<linkw::LaneEvent>> RunTick(linkw::LinkClient& client, uint64_t tick_id,
                                                      std::vector<linkw::Lane> lanes) {
  const auto result = linkw::ExpectReply<linkw::TickResult>(
      client.Request(linkw::TickSubmit{{.tick_id = tick_id, .lanes = std::move(lanes)}}));
  if (!result.ok()) return result.status();
  if (result->status != linkw::Status::kOk) {
    return linkw::MakeStatus(result->status, result->message);
  }
  for (const linkw::LaneEvent& event : result->events.lanes) {
    if (event.status != linkw::Status::kOk) return linkw::MakeStatus(event.status, event.message);
  }
  return result->events.lanes;
}

// All inputs go into the ring together. A prefill lane has max_tokens 0, and makes its sequence.
absl::Status Prefill(linkw::LinkClient& client, linkw::DriverRings& rings,
                     std::vector<Sequence>& sequences) {
  std::vector<absl::Span<const linkw::Token>> inputs;
  for (const Sequence& sequence : sequences) inputs.emplace_back(sequence.prompt);
  const auto spans = rings.WriteInputs(inputs);
  if (!spans.ok()) return spans.status();
  std::vector<linkw::Lane> lanes;
  for (size_t i = 0; i < sequences.size(); ++i) {
    lanes.push_back(
        {.lane_tag = linkw::LaneTag{i}, .input = (*spans)[i], .kind = linkw::LaneKind::kPrefill});
  }
  const auto events = RunTick(client, 1, std::move(lanes));
  if (!events.ok()) return events.status();
  for (size_t i = 0; i < sequences.size(); ++i) sequences[i].id = (*events)[i].sequence;
  return absl::OkStatus();
}

absl::Status Decode(linkw::LinkClient& client, linkw::DriverRings& rings,
                    std::vector<Sequence>& sequences, size_t tokens) {
  for (uint64_t tick = 2; sequences.front().drawn.size() < tokens; ++tick) {
    const size_t left = tokens - sequences.front().drawn.size();
    std::vector<linkw::Lane> lanes;
    for (size_t i = 0; i < sequences.size(); ++i) {
      lanes.push_back({.lane_tag = linkw::LaneTag{i},
                       .sequence = sequences[i].id,
                       .kind = linkw::LaneKind::kDecode,
                       .max_tokens = static_cast<uint32_t>(std::min<size_t>(8, left))});
    }
    const auto events = RunTick(client, tick, std::move(lanes));
    if (!events.ok()) return events.status();
    for (size_t i = 0; i < sequences.size(); ++i) {
      const auto drawn = rings.ReadTokens((*events)[i].out);
      if (!drawn.ok()) return drawn.status();
      sequences[i].drawn.insert(sequences[i].drawn.end(), drawn->begin(), drawn->end());
    }
  }
  return absl::OkStatus();
}

absl::Status Run(const char* socket, size_t tokens, std::vector<Sequence>& sequences) {
  const auto client = linkw::LinkClient::Connect(socket, {.wait_for_listener = true});
  if (!client.ok()) return client.status();
  const auto rings = linkw::DriverRings::Attach(**client);
  if (!rings.ok()) return rings.status();
  const absl::Status status = Prefill(**client, **rings, sequences);
  return status.ok() ? Decode(**client, **rings, sequences, tokens) : status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: batched_ticks SOCKET TOKENS TEXT TEXT\n";
    return 2;
  }
  std::vector<Sequence> sequences(2);
  for (size_t i = 0; i < 2; ++i) {
    for (const char c : std::string(argv[3 + i])) {
      sequences[i].prompt.push_back(static_cast<unsigned char>(c));
    }
  }
  const absl::Status status = Run(argv[1], std::strtoul(argv[2], nullptr, 10), sequences);
  if (!status.ok()) {
    std::cerr << status.message() << "\n";
    return 1;
  }
  for (const Sequence& sequence : sequences) {
    for (const linkw::Token token : sequence.drawn) std::cout << token << " ";
    std::cout << std::endl;
  }
  return 0;
}
