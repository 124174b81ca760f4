#include "tests/fuzz/frame_decoder_fuzz.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "protocol/frames/frame_decoder.h"
#include "protocol/messages/message_type.h"
#include "tests/fuzz/codec_fuzz.h"

namespace superfluid::fuzz {
namespace {

using linkw::Frame;
using linkw::FrameDecoder;

// Small, so that the limit is met.
constexpr uint32_t kMaxFrame = 4096;

void Require(bool holds) {
  if (!holds) std::abort();
}

struct Outcome {
  std::vector<Frame> frames;
  absl::Status error;
};

void DecodeAll(FrameDecoder& decoder, Outcome& outcome) {
  while (true) {
    auto frame = decoder.Next();
    if (!frame.ok()) {
      Require(outcome.error.ok() || outcome.error == frame.status());
      outcome.error = frame.status();
      return;
    }
    if (!frame->has_value()) return;
    Require(outcome.error.ok());
    outcome.frames.push_back(**std::move(frame));
  }
}

Outcome DecodeInPieces(std::string_view bytes) {
  FrameDecoder decoder(kMaxFrame);
  Outcome outcome;
  while (!bytes.empty()) {
    const size_t wanted = 1 + static_cast<unsigned char>(bytes[0]) % 40;
    const std::string_view piece = bytes.substr(0, wanted);
    decoder.Append(piece);
    DecodeAll(decoder, outcome);
    bytes.remove_prefix(piece.size());
  }
  return outcome;
}

Outcome DecodeAtOnce(std::string_view bytes) {
  FrameDecoder decoder(kMaxFrame);
  Outcome outcome;
  decoder.Append(bytes);
  DecodeAll(decoder, outcome);
  return outcome;
}

void CheckFrame(const Frame& frame, uint64_t last_seq) {
  Require(frame.header.seq > last_seq);
  Require(frame.header.payload_len <= linkw::PayloadLimit(frame.type(), kMaxFrame));
  const bool known = linkw::IsKnown(frame.header.type);
  Require(frame.payload.size() == (known ? frame.header.payload_len : 0));
  if (known) FuzzCodecOf(frame.type(), frame.payload);
}

}  // namespace

void FuzzFrameDecoder(std::string_view bytes) {
  const Outcome pieces = DecodeInPieces(bytes);
  const Outcome whole = DecodeAtOnce(bytes);
  Require(pieces.error == whole.error);
  Require(pieces.frames.size() == whole.frames.size());
  uint64_t last_seq = 0;
  for (size_t i = 0; i < pieces.frames.size(); ++i) {
    Require(pieces.frames[i].header == whole.frames[i].header);
    Require(pieces.frames[i].payload == whole.frames[i].payload);
    Require(pieces.frames[i].offset == whole.frames[i].offset);
    CheckFrame(pieces.frames[i], last_seq);
    last_seq = pieces.frames[i].header.seq;
  }
}

}  // namespace superfluid::fuzz
