#include "actors/state_ops/buffer_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"

namespace superfluid {

absl::Status BufferTable::CheckRoom(uint64_t bytes) {
  absl::Status fits = CheckBytes(bytes);  // forgets released buffers, too
  if (buffers_.size() + released_.size() >= limits_.max_buffers) {
    return linkw::MakeStatus(
        linkw::Status::kOutOfMemory,
        absl::StrCat("the link has ", limits_.max_buffers, " buffers, the most it may have"));
  }
  return fits;
}

absl::Status BufferTable::TakeCopy(uint64_t bytes) {
  if (absl::Status fits = CheckBytes(bytes); !fits.ok()) return fits;
  copied_bytes_ += bytes;
  return absl::OkStatus();
}

absl::Status BufferTable::CheckBytes(uint64_t bytes) {
  const uint64_t in_use = BytesInUse();
  if (in_use <= limits_.max_bytes && bytes <= limits_.max_bytes - in_use) return absl::OkStatus();
  return linkw::MakeStatus(linkw::Status::kOutOfMemory,
                           absl::StrCat(bytes, " bytes do not fit: ", in_use, " of ",
                                        limits_.max_bytes, " bytes are in use by the link"));
}

absl::Status BufferTable::Insert(linkw::BufId id, Segment segment) {
  if (absl::Status unused = CheckId(id); !unused.ok()) return unused;
  if (absl::Status room = CheckRoom(segment.size()); !room.ok()) return room;
  buffers_.emplace(id, std::make_shared<const Segment>(std::move(segment)));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Segment>> BufferTable::Use(linkw::BufId id) const {
  auto it = buffers_.find(id);
  if (it == buffers_.end()) {
    return linkw::MakeStatus(linkw::Status::kUnknownHandle,
                             absl::StrCat("there is no buffer ", static_cast<uint64_t>(id)));
  }
  return it->second;
}

absl::Status BufferTable::CheckId(linkw::BufId id) const {
  if (!buffers_.contains(id)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("buffer ", static_cast<uint64_t>(id), " exists already"));
}

void BufferTable::Release(linkw::BufId id, const std::shared_ptr<const Segment>& only) {
  auto it = buffers_.find(id);
  if (it == buffers_.end() || (only != nullptr && it->second != only)) return;
  released_.push_back(it->second);
  buffers_.erase(it);
}

uint64_t BufferTable::BytesInUse() {
  std::erase_if(released_, [](const auto& segment) { return segment.expired(); });
  uint64_t bytes = copied_bytes_;
  for (const auto& [id, segment] : buffers_) bytes += segment->size();
  for (const auto& released : released_) {
    if (const auto segment = released.lock()) bytes += segment->size();
  }
  return bytes;
}

}  // namespace superfluid
