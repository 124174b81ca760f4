#include "engine/sim/sim_media.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/sim/sim_files.h"

namespace superfluid {
namespace {

constexpr uint64_t kBytesPerToken = 64;
constexpr uint64_t kMaxTokens = 256;

absl::Status NoMedia(MediaHandle handle) {
  return absl::NotFoundError(absl::StrCat("no media ", static_cast<uint64_t>(handle)));
}

}  // namespace

absl::StatusOr<MediaInfo> SimMedia::Probe(const std::string& path) {
  const absl::StatusOr<SimFile> file = ReadSimFile(path, kSimMaxMediaBytes);
  if (!file.ok()) return file.status();
  MediaInfo info;
  info.n_tokens = static_cast<uint32_t>(
      std::min(kMaxTokens, (file->bytes + kBytesPerToken - 1) / kBytesPerToken));
  info.image_token = kSimImageToken;
  info.boi_token = kSimBeginOfImage;
  info.eoi_token = kSimEndOfImage;
  info.preprocess_fp = file->fingerprint;
  return info;
}

absl::StatusOr<EncodedMedia> SimMedia::Encode(const std::string& path) {
  if (media_.size() >= kSimMaxMedia) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", kSimMaxMedia, " media"));
  }
  const absl::StatusOr<MediaInfo> info = Probe(path);
  if (!info.ok()) return info.status();
  const auto handle = handles_.Next<MediaHandle>();
  media_.emplace(handle, *info);
  return EncodedMedia{handle, *info};
}

absl::Status SimMedia::Release(MediaHandle handle) {
  return media_.erase(handle) == 1 ? absl::OkStatus() : NoMedia(handle);
}

absl::Status SimMedia::Bind(LaneTag tag, MediaHandle handle, uint64_t token_offset) {
  const auto found = media_.find(handle);
  if (found == media_.end()) return NoMedia(handle);
  if (bound_ >= kSimMaxBindings) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", kSimMaxBindings, " bindings"));
  }
  bindings_[tag].push_back({token_offset, found->second});
  ++bound_;
  return absl::OkStatus();
}

absl::StatusOr<MediaMap> SimMedia::TakeBindings(LaneTag tag, uint64_t tokens) {
  MediaMap media;
  const auto found = bindings_.find(tag);
  if (found == bindings_.end()) return media;
  const std::vector<Binding> bindings = std::move(found->second);
  bindings_.erase(found);
  bound_ -= bindings.size();
  for (const Binding& binding : bindings) {
    if (binding.offset > tokens || binding.info.n_tokens > tokens - binding.offset) {
      return absl::InvalidArgumentError("bound media reaches beyond the lane's input");
    }
    for (uint64_t i = 0; i < binding.info.n_tokens; ++i) {
      if (!media.emplace(binding.offset + i, binding.info.preprocess_fp).second) {
        return absl::InvalidArgumentError("bound media overlap");
      }
    }
  }
  return media;
}

void SimMedia::Clear() {
  media_.clear();
  bindings_.clear();
  bound_ = 0;
}

}  // namespace superfluid
