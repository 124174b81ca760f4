#ifndef SUPERFLUID_ENGINE_GENERATION_MEDIA_BOOK_H_
#define SUPERFLUID_ENGINE_GENERATION_MEDIA_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cache/token_provenance.h"
#include "engine/call_control.h"
#include "engine/generation.h"
#include "engine/generation/media_item.h"
#include "engine/sampling/handle_source.h"

namespace superfluid {

inline constexpr size_t kMaxMedia = 1024;
inline constexpr size_t kMaxMediaBindings = 4096;
inline constexpr uint64_t kMaxMediaBytes = uint64_t{1} << 30U;

// A file with media that has been read and looked at, but not encoded.
struct PreparedMedia {
  MediaInfo info;
  std::string bytes;           // of the file, if it takes them to encode it
  uint64_t encoded_bytes = 0;  // what it will take
};

// The part of a model that turns files into what stands for them in a sequence. Threads: one.
class MediaModel {
 public:
  MediaModel() = default;
  MediaModel(const MediaModel&) = delete;
  MediaModel& operator=(const MediaModel&) = delete;
  virtual ~MediaModel() = default;

  // NotFound: the file cannot be read; InvalidArgument: it is no media, or too large; Cancelled.
  virtual absl::StatusOr<PreparedMedia> Prepare(const std::string& path,
                                                const CallControl& control) = 0;
  // An item of the fingerprint and number of tokens that `info` says. InvalidArgument, Internal,
  // Cancelled.
  virtual absl::StatusOr<MediaItemRef> Encode(const PreparedMedia& media,
                                              const CallControl& control) = 0;
};

// Media for a lane's next input, by position in it.
using BoundMedia = std::map<uint64_t, MediaItemRef>;
MediaMap MarksOf(const BoundMedia& bound);

// Encoded media, and where it is bound. An item is kept as long as a handle, a binding or a
// sequence has it, and is not encoded again meanwhile. Threads: one. Lifetime: the model must
// outlive it.
class MediaBook {
 public:
  // `model` null: the engine knows no media, and says so with `without`. `max_bytes`: of all that
  // is encoded.
  MediaBook(HandleSource& handles, MediaModel* model, std::string without,
            uint64_t max_bytes = kMaxMediaBytes)
      : handles_(handles), model_(model), without_(std::move(without)), max_bytes_(max_bytes) {}

  // Errors of these four: Unimplemented: the engine knows no media. Those of MediaModel::Prepare.
  absl::StatusOr<MediaInfo> Probe(const std::string& path, const CallControl& control);
  // And those of MediaModel::Encode; ResourceExhausted: kMaxMedia handles, or what sequences and
  // handles have takes `max_bytes`.
  absl::StatusOr<EncodedMedia> Encode(const std::string& path, const CallControl& control);
  absl::Status Release(MediaHandle handle);  // NotFound; bindings stay
  // NotFound, ResourceExhausted.
  absl::Status Bind(LaneTag tag, MediaHandle handle, uint64_t token_offset);
  // What is bound to the lane's next input; bound no more. InvalidArgument: it reaches beyond the
  // input, overlaps, or something else than image tokens is there.
  absl::StatusOr<BoundMedia> TakeBindings(LaneTag tag, absl::Span<const Token> input);

  // Null: not here.
  MediaItemRef Find(uint64_t fingerprint) const;

  void Clear();  // handles and bindings
  uint64_t bytes() const;

 private:
  struct Held {
    MediaItemRef item;
    Token image_token = 0;
  };
  struct Binding {
    uint64_t offset = 0;
    Held media;
  };

  absl::Status CheckKnown() const;
  absl::StatusOr<MediaItemRef> ItemFor(const PreparedMedia& media, const CallControl& control);
  static absl::Status CheckBinding(const Binding& binding, absl::Span<const Token> input);

  HandleSource& handles_;
  MediaModel* const model_;
  const std::string without_;
  const uint64_t max_bytes_;
  std::map<MediaHandle, Held> media_;
  std::map<LaneTag, std::vector<Binding>> bindings_;
  size_t bound_ = 0;
  std::map<uint64_t, std::weak_ptr<const MediaItem>> items_;  // by fingerprint
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_MEDIA_BOOK_H_
