#include "engine/llama/llama_sequences.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

absl::Status NoSequence(SequenceHandle handle) {
  return absl::NotFoundError(absl::StrCat("no sequence ", static_cast<uint64_t>(handle)));
}

}  // namespace

absl::Status LlamaSequences::CheckRoom() const {
  if (sequences_.size() < limit_) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("there are ", limit_, " sequences already"));
}

absl::StatusOr<SequenceHandle> LlamaSequences::Add(std::unique_ptr<LlamaSequence> sequence) {
  const auto handle = handles_.Next<SequenceHandle>();
  sequences_.emplace(handle, std::move(sequence));
  return handle;
}

absl::StatusOr<SequenceHandle> LlamaSequences::Create(LlamaAdapterRef adapter) {
  if (absl::Status status = CheckRoom(); !status.ok()) return status;
  return Add(std::make_unique<LlamaSequence>(kv_, adapter));
}

absl::StatusOr<SequenceHandle> LlamaSequences::Fork(SequenceHandle parent) {
  const absl::StatusOr<LlamaSequence*> found = Find(parent);
  if (!found.ok()) return found.status();
  if ((*found)->IsMissing()) {
    return absl::FailedPreconditionError("part of the parent's state is not on the device");
  }
  if (absl::Status status = CheckRoom(); !status.ok()) return status;
  std::unique_ptr<LlamaSequence> child = (*found)->Fork();
  if (child == nullptr) {
    return absl::ResourceExhaustedError("no room for the state of another sequence");
  }
  return Add(std::move(child));
}

absl::Status LlamaSequences::Free(SequenceHandle handle) {
  return sequences_.erase(handle) == 1 ? absl::OkStatus() : NoSequence(handle);
}

void LlamaSequences::Clear() {
  sequences_.clear();
  lanes_.Clear();
}

absl::StatusOr<LlamaSequence*> LlamaSequences::Find(SequenceHandle handle) const {
  const auto found = sequences_.find(handle);
  if (found == sequences_.end()) return NoSequence(handle);
  return found->second.get();
}

absl::StatusOr<SequenceHandle> LlamaSequences::LaneSequence(LaneTag tag) const {
  const std::optional<SequenceHandle> found = lanes_.Find(tag);
  if (found.has_value() && sequences_.contains(*found)) return *found;
  return absl::NotFoundError(
      absl::StrCat("lane ", static_cast<uint64_t>(tag), " has worked on no sequence that exists"));
}

bool LlamaSequences::CheckInvariants() const {
  return std::all_of(sequences_.begin(), sequences_.end(),
                     [](const auto& entry) { return entry.second->CheckInvariants(); });
}

}  // namespace superfluid
