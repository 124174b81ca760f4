#ifndef SUPERFLUID_ENGINE_LLAMA_MEDIA_ENCODER_H_
#define SUPERFLUID_ENGINE_LLAMA_MEDIA_ENCODER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/call_control.h"
#include "engine/engine.h"
#include "engine/generation.h"
#include "engine/generation/media_book.h"
#include "engine/generation/media_item.h"
#include "engine/llama/image_file.h"
#include "engine/llama/llama_model.h"
#include "engine/llama/llama_options.h"

struct mtmd_context;

namespace superfluid {

// Turns images into what the model takes in place of token embeddings, by the library's multimodal
// part (mtmd) and a projector's file of its own ("mmproj"). It computes on the device that the
// model's layers are on, with as many threads.
//
// While the library computes, what it has computed is a sign of life, and the token is looked at:
// some nodes of its graph at a time. What it prepares before that (scaling) is one go.
//
// Threads: one. Lifetime: the model must outlive it.
class MediaEncoder final : public MediaModel {
 public:
  // Loads `options.mmproj` and encodes one blank image. Errors: those of CheckGguf;
  // InvalidArgument (no projector; one for audio alone; one that the library does not know or that
  // does not fit the model; positions that are not token numbers, as the Qwen-VL models have).
  static absl::StatusOr<std::unique_ptr<MediaEncoder>> Load(const EngineConfig& config,
                                                            const LlamaOptions& options,
                                                            LlamaModel& model);
  ~MediaEncoder() override;

  // And the errors of ReadImageFile, Probe and Encode.
  absl::StatusOr<PreparedMedia> Prepare(const std::string& path,
                                        const CallControl& control) override;
  absl::StatusOr<MediaItemRef> Encode(const PreparedMedia& media,
                                      const CallControl& control) override;

  // What stands for the image with these bytes (of a file, see image_file.h); its header alone is
  // looked at. InvalidArgument: no such image; it has more tokens than the context, or, if they are
  // computed at once, than "ubatch".
  absl::StatusOr<MediaInfo> Probe(absl::string_view bytes);
  // The same, encoded; `fingerprint` is what Probe gave. InvalidArgument also for an image that is
  // damaged; Internal: the library failed, or what it computed are no numbers; Cancelled.
  absl::StatusOr<MediaItemRef> Encode(absl::string_view bytes, uint64_t fingerprint,
                                      const CallControl& control);

  uint64_t row_bytes() const;                                  // of a token
  uint64_t weight_bytes() const { return facts_.file_bytes; }  // of the projector
  absl::Duration encode_time() const { return encode_time_; }  // of the blank image

 private:
  class Chunks;
  class EncodeHook;

  explicit MediaEncoder(LlamaModel& model);
  absl::Status Open(const EngineConfig& config, const LlamaOptions& options);
  absl::Status CheckKind() const;
  absl::Status WarmUp();
  absl::Status CheckLimits(const Chunks& chunks) const;
  // Of the file and the projector; never 0.
  uint64_t Fingerprint(absl::string_view bytes) const;
  // Tokens and limits of an image; with what the library needs to encode it if it has pixels.
  absl::StatusOr<Chunks> Prepare(ImageSize size, const unsigned char* pixels);
  absl::StatusOr<MediaItemRef> EncodeChunks(const Chunks& chunks, uint64_t fingerprint,
                                            const CallControl& control);
  absl::StatusOr<MediaPart> EncodePart(const Chunks& chunks, size_t index,
                                       const CallControl& control);
  // Whether the library may be used, and calls it: an assertion that fails is an error.
  template <typename Result, typename Call>
  absl::StatusOr<Result> Guarded(Call call);

  LlamaModel& model_;
  GgufFacts facts_;
  mtmd_context* context_ = nullptr;
  const std::unique_ptr<EncodeHook> hook_;  // before the context: the library calls it
  uint32_t image_token_ = 0;
  absl::Duration encode_time_;
  bool broken_ = false;  // an assertion has failed: its context is lost
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_MEDIA_ENCODER_H_
