#include "actors/buffer_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/status.h"

namespace superfluid {

absl::Status BufferTable::CheckRoom(uint64_t bytes) {
  const uint64_t mapped = MappedBytes();
  if (buffers_.size() + released_.size() >= limits_.max_buffers) {
    return linkw::MakeStatus(
        linkw::Status::kOutOfMemory,
        absl::StrCat("the link has ", limits_.max_buffers, " buffers, the most it may have"));
  }
  if (mapped > limits_.max_bytes || bytes > limits_.max_bytes - mapped) {
    return linkw::MakeStatus(linkw::Status::kOutOfMemory,
                             absl::StrCat("a buffer of ", bytes, " bytes does not fit: ", mapped,
                                          " of ", limits_.max_bytes, " bytes are in use"));
  }
  return absl::OkStatus();
}

absl::Status BufferTable::Insert(linkw::BufId id, Segment segment) {
  if (buffers_.contains(id)) {
    return absl::InvalidArgumentError(
        absl::StrCat("buffer ", static_cast<uint64_t>(id), " exists already"));
  }
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

void BufferTable::Release(linkw::BufId id) {
  auto it = buffers_.find(id);
  if (it == buffers_.end()) return;
  released_.push_back(it->second);
  buffers_.erase(it);
}

uint64_t BufferTable::MappedBytes() {
  std::erase_if(released_, [](const auto& segment) { return segment.expired(); });
  uint64_t bytes = 0;
  for (const auto& [id, segment] : buffers_) bytes += segment->size();
  for (const auto& released : released_) {
    if (const auto segment = released.lock()) bytes += segment->size();
  }
  return bytes;
}

}  // namespace superfluid
