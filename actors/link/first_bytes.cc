#include "actors/link/first_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/status/statusor.h"
#include "protocol/frames/frame.h"

namespace superfluid {
namespace {

constexpr size_t kTokenBytes = sizeof(linkw::LinkToken);
constexpr size_t kPiece = 4096;

}  // namespace

size_t FirstBytes::wanted() const {
  return IsFrames() ? kPiece : kTokenBytes - std::min(received_.size(), kTokenBytes);
}

FirstBytes::Kind FirstBytes::Add(std::string_view bytes) {
  const bool was_frames = IsFrames();
  received_.append(bytes);
  if (!IsFrames()) {
    return received_.size() < kTokenBytes ? Kind::kUndecided : Kind::kDescriptors;
  }
  decoder_.Append(was_frames ? bytes : std::string_view(received_));
  const absl::StatusOr<std::optional<linkw::Frame>> frame = decoder_.Next();
  const bool decided = !frame.ok() || frame->has_value() || received_.size() >= kMaxBytes;
  return decided ? Kind::kFrames : Kind::kUndecided;
}

linkw::LinkToken FirstBytes::token() const {
  linkw::LinkToken token{};
  std::memcpy(token.data(), received_.data(), std::min(received_.size(), token.size()));
  return token;
}

bool FirstBytes::IsFrames() const {
  uint32_t word = 0;
  if (received_.size() < sizeof word) return false;
  std::memcpy(&word, received_.data(), sizeof word);  // the magic is little-endian, as this machine
  return word == linkw::kMagic;
}

}  // namespace superfluid
