#include "engine/generation/media_book.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

absl::Status NoMedia(MediaHandle handle) {
  return absl::NotFoundError(absl::StrCat("no media ", static_cast<uint64_t>(handle)));
}

absl::Status TooMany(size_t count, absl::string_view what) {
  return absl::ResourceExhaustedError(absl::StrCat("there are ", count, " ", what));
}

}  // namespace

MediaMap MarksOf(const BoundMedia& bound) {
  MediaMap marks;
  for (const auto& [start, item] : bound) {
    for (uint64_t i = 0; i < item->tokens; ++i) marks.emplace(start + i, item->fingerprint);
  }
  return marks;
}

absl::Status MediaBook::CheckKnown() const {
  if (model_ != nullptr) return absl::OkStatus();
  return absl::UnimplementedError(without_);
}

absl::StatusOr<MediaInfo> MediaBook::Probe(const std::string& path, const CallControl& control) {
  if (absl::Status status = CheckKnown(); !status.ok()) return status;
  const absl::StatusOr<PreparedMedia> media = model_->Prepare(path, control);
  if (!media.ok()) return media.status();
  return media->info;
}

absl::StatusOr<EncodedMedia> MediaBook::Encode(const std::string& path,
                                               const CallControl& control) {
  if (absl::Status status = CheckKnown(); !status.ok()) return status;
  const absl::StatusOr<PreparedMedia> media = model_->Prepare(path, control);
  if (!media.ok()) return media.status();
  if (media_.size() >= kMaxMedia) return TooMany(kMaxMedia, "media");
  const absl::StatusOr<MediaItemRef> item = ItemFor(*media, control);
  if (!item.ok()) return item.status();
  const auto handle = handles_.Next<MediaHandle>();
  media_.emplace(handle, Held{*item, media->info.image_token});
  return EncodedMedia{handle, media->info};
}

absl::StatusOr<MediaItemRef> MediaBook::ItemFor(const PreparedMedia& media,
                                                const CallControl& control) {
  const MediaInfo& info = media.info;
  if (MediaItemRef known = Find(info.preprocess_fp); known != nullptr) return known;
  std::erase_if(items_, [](const auto& entry) { return entry.second.expired(); });
  if (bytes() + media.encoded_bytes > max_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("media that is in use takes ", bytes(), " bytes"));
  }
  absl::StatusOr<MediaItemRef> item = model_->Encode(media, control);
  if (!item.ok()) return item.status();
  if ((*item)->tokens != info.n_tokens) {
    return absl::InternalError(
        absl::StrCat("media of ", info.n_tokens, " tokens gave ", (*item)->tokens));
  }
  items_[info.preprocess_fp] = *item;
  return item;
}

absl::Status MediaBook::Release(MediaHandle handle) {
  if (absl::Status status = CheckKnown(); !status.ok()) return status;
  return media_.erase(handle) == 1 ? absl::OkStatus() : NoMedia(handle);
}

absl::Status MediaBook::Bind(LaneTag tag, MediaHandle handle, uint64_t token_offset) {
  if (absl::Status status = CheckKnown(); !status.ok()) return status;
  const auto found = media_.find(handle);
  if (found == media_.end()) return NoMedia(handle);
  if (bound_ >= kMaxMediaBindings) return TooMany(kMaxMediaBindings, "bindings");
  bindings_[tag].push_back({token_offset, found->second});
  ++bound_;
  return absl::OkStatus();
}

absl::Status MediaBook::CheckBinding(const Binding& binding, absl::Span<const Token> input) {
  const uint64_t tokens = binding.media.item->tokens;
  if (binding.offset > input.size() || tokens > input.size() - binding.offset) {
    return absl::InvalidArgumentError("bound media reaches beyond the lane's input");
  }
  if (binding.media.item->any_tokens) return absl::OkStatus();
  const auto place = input.subspan(binding.offset, tokens);
  const Token expected = binding.media.image_token;
  const auto other = std::find_if(place.begin(), place.end(),
                                  [expected](Token token) { return token != expected; });
  if (other == place.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("where media is bound the input has token ", *other, " instead of ", expected));
}

absl::StatusOr<BoundMedia> MediaBook::TakeBindings(LaneTag tag, absl::Span<const Token> input) {
  BoundMedia bound;
  const auto found = bindings_.find(tag);
  if (found == bindings_.end()) return bound;
  const std::vector<Binding> bindings = std::move(found->second);
  bindings_.erase(found);
  bound_ -= bindings.size();
  for (const Binding& binding : bindings) {
    if (absl::Status status = CheckBinding(binding, input); !status.ok()) return status;
    const uint64_t end = binding.offset + binding.media.item->tokens;
    const auto next = bound.lower_bound(binding.offset);
    const bool reaches_next = next != bound.end() && next->first < end;
    const bool in_previous =
        next != bound.begin() &&
        std::prev(next)->first + std::prev(next)->second->tokens > binding.offset;
    if (reaches_next || in_previous) return absl::InvalidArgumentError("bound media overlap");
    bound.emplace(binding.offset, binding.media.item);
  }
  return bound;
}

MediaItemRef MediaBook::Find(uint64_t fingerprint) const {
  const auto found = items_.find(fingerprint);
  return found == items_.end() ? nullptr : found->second.lock();
}

void MediaBook::Clear() {
  media_.clear();
  bindings_.clear();
  bound_ = 0;
}

uint64_t MediaBook::bytes() const {
  uint64_t total = 0;
  for (const auto& [fingerprint, item] : items_) {
    if (const MediaItemRef live = item.lock(); live != nullptr) total += live->bytes();
  }
  return total;
}

}  // namespace superfluid
