#include "engine/generation/sequence_book.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

absl::Status NoSequence(SequenceHandle handle) {
  return absl::NotFoundError(absl::StrCat("no sequence ", static_cast<uint64_t>(handle)));
}

}  // namespace

absl::Status SequenceBook::CheckRoom() const {
  if (sequences_.size() < limit_) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("there are ", limit_, " sequences already"));
}

SequenceHandle SequenceBook::Add(std::unique_ptr<SessionSequence> sequence) {
  const auto handle = handles_.Next<SequenceHandle>();
  sequences_.emplace(handle, std::move(sequence));
  return handle;
}

absl::StatusOr<SequenceHandle> SequenceBook::Create(AdapterRef adapter) {
  if (absl::Status status = CheckRoom(); !status.ok()) return status;
  return Add(make_(adapter));
}

absl::StatusOr<SequenceHandle> SequenceBook::Fork(SequenceHandle parent) {
  const absl::StatusOr<SessionSequence*> found = Find(parent);
  if (!found.ok()) return found.status();
  if ((*found)->IsMissing()) {
    return absl::FailedPreconditionError("part of the parent's state is not on the device");
  }
  if (absl::Status status = CheckRoom(); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<SessionSequence>> child = (*found)->Fork();
  if (!child.ok()) return child.status();
  return Add(*std::move(child));
}

absl::Status SequenceBook::Free(SequenceHandle handle) {
  return sequences_.erase(handle) == 1 ? absl::OkStatus() : NoSequence(handle);
}

void SequenceBook::Clear() {
  sequences_.clear();
  lanes_.Clear();
}

absl::StatusOr<SessionSequence*> SequenceBook::Find(SequenceHandle handle) const {
  const auto found = sequences_.find(handle);
  if (found == sequences_.end()) return NoSequence(handle);
  return found->second.get();
}

absl::StatusOr<SequenceHandle> SequenceBook::LaneSequence(LaneTag tag) const {
  const std::optional<SequenceHandle> found = lanes_.Find(tag);
  if (found.has_value() && sequences_.contains(*found)) return *found;
  return absl::NotFoundError(
      absl::StrCat("lane ", static_cast<uint64_t>(tag), " has worked on no sequence that exists"));
}

}  // namespace superfluid
