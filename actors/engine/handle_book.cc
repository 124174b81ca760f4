#include "actors/engine/handle_book.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

const char* NameOf(HandleKind kind) {
  switch (kind) {
    case HandleKind::kSequence:
      return "sequence";
    case HandleKind::kGrammar:
      return "grammar";
    case HandleKind::kLogitBias:
      return "logit bias";
    case HandleKind::kMedia:
      return "media";
    case HandleKind::kSeed:
      return "seed";
    case HandleKind::kStrategy:
      return "strategy";
  }
  return "handle";
}

}  // namespace

absl::Status HandleBook::CheckRoom(HandleKind kind) const {
  if (Of(kind).size() < kMost) return absl::OkStatus();
  return linkw::MakeStatus(
      linkw::Status::kOutOfMemory,
      absl::StrCat("the link has ", kMost, " handles of the kind ", NameOf(kind), ", the most"));
}

absl::Status HandleBook::Add(HandleKind kind, uint64_t handle) {
  if (handle == 0) {
    return absl::InternalError(absl::StrCat("the engine made a ", NameOf(kind), " and named none"));
  }
  if (!Of(kind).insert(handle).second) {
    return absl::InternalError(absl::StrCat("the engine gave the same ", NameOf(kind), " twice"));
  }
  return absl::OkStatus();
}

absl::Status HandleBook::AddLease(uint64_t seed) {
  Remove(HandleKind::kSeed, seed);
  if (absl::Status added = Add(HandleKind::kSeed, seed); !added.ok()) return added;
  leases_.emplace(++leases_given_, seed);
  lease_numbers_.emplace(seed, leases_given_);
  if (leases_.size() > kMost) Remove(HandleKind::kSeed, leases_.begin()->second);
  return absl::OkStatus();
}

void HandleBook::Remove(HandleKind kind, uint64_t handle) {
  Of(kind).erase(handle);
  if (kind != HandleKind::kSeed) return;
  const auto number = lease_numbers_.find(handle);
  if (number == lease_numbers_.end()) return;
  leases_.erase(number->second);
  lease_numbers_.erase(number);
}

absl::Status HandleBook::Check(HandleKind kind, uint64_t handle) const {
  if (Knows(kind, handle)) return absl::OkStatus();
  return linkw::MakeStatus(linkw::Status::kUnknownHandle,
                           absl::StrCat("there is no ", NameOf(kind), " ", handle));
}

bool HandleBook::empty() const {
  return std::all_of(sets_.begin(), sets_.end(), [](const Set& set) { return set.empty(); });
}

}  // namespace superfluid
