#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_MEDIA_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_MEDIA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cache/token_provenance.h"
#include "engine/generation.h"
#include "engine/llama/media_encoder.h"
#include "engine/llama/media_item.h"
#include "engine/sampling/handle_source.h"

namespace superfluid {

inline constexpr size_t kLlamaMaxMedia = 1024;
inline constexpr size_t kLlamaMaxBindings = 4096;
inline constexpr uint64_t kLlamaMediaBytes = uint64_t{1} << 30U;

// Media for a lane's next input, by position in it.
using BoundMedia = std::map<uint64_t, MediaItemRef>;
MediaMap MarksOf(const BoundMedia& bound);

// Encoded images, and where they are bound. An image is kept as long as a handle, a binding or a
// sequence has it, and is not encoded again meanwhile. Threads: one.
class LlamaMedia {
 public:
  // `encoder` null: there is no projector. `max_bytes`: of all that is encoded.
  LlamaMedia(HandleSource& handles, std::unique_ptr<MediaEncoder> encoder, uint64_t max_bytes)
      : handles_(handles), encoder_(std::move(encoder)), max_bytes_(max_bytes) {}

  const MediaEncoder* encoder() const { return encoder_.get(); }

  // Errors of these four: Unimplemented: there is no projector. Those of ReadImageFile and
  // MediaEncoder::Probe.
  absl::StatusOr<MediaInfo> Probe(const std::string& path, const CallControl& control);
  // And those of MediaEncoder::Encode; ResourceExhausted: kLlamaMaxMedia handles, or what sequences
  // and handles have takes `max_bytes`.
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

  absl::StatusOr<std::string> Read(const std::string& path, const CallControl& control) const;
  absl::StatusOr<MediaItemRef> ItemFor(const std::string& bytes, const MediaInfo& info,
                                       const CallControl& control);
  static absl::Status CheckBinding(const Binding& binding, absl::Span<const Token> input);

  HandleSource& handles_;
  const std::unique_ptr<MediaEncoder> encoder_;
  const uint64_t max_bytes_;
  std::map<MediaHandle, Held> media_;
  std::map<LaneTag, std::vector<Binding>> bindings_;
  size_t bound_ = 0;
  std::map<uint64_t, std::weak_ptr<const MediaItem>> items_;  // by fingerprint
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_MEDIA_H_
