#include "engine/sim/sim_media.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "engine/sim/sim_files.h"

namespace superfluid {
namespace {

constexpr uint64_t kBytesPerToken = 64;
constexpr uint64_t kMaxTokens = 256;

}  // namespace

absl::StatusOr<PreparedMedia> SimMedia::Prepare(const std::string& path,
                                                const CallControl& control) {
  if (absl::Status status = compute_(control); !status.ok()) return status;
  const absl::StatusOr<SimFile> file = ReadSimFile(path, kSimMaxMediaBytes);
  if (!file.ok()) return file.status();
  PreparedMedia media;
  media.info.n_tokens = static_cast<uint32_t>(
      std::min(kMaxTokens, (file->bytes + kBytesPerToken - 1) / kBytesPerToken));
  media.info.image_token = kSimImageToken;
  media.info.boi_token = kSimBeginOfImage;
  media.info.eoi_token = kSimEndOfImage;
  media.info.preprocess_fp = file->fingerprint;
  return media;
}

absl::StatusOr<MediaItemRef> SimMedia::Encode(const PreparedMedia& media,
                                              const CallControl& /*control*/) {
  auto item = std::make_shared<MediaItem>();
  item->tokens = media.info.n_tokens;
  item->fingerprint = media.info.preprocess_fp;
  item->any_tokens = true;
  return item;
}

}  // namespace superfluid
