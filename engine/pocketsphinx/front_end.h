#ifndef SUPERFLUID_ENGINE_POCKETSPHINX_FRONT_END_H_
#define SUPERFLUID_ENGINE_POCKETSPHINX_FRONT_END_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/pocketsphinx/cepstral_mean.h"

struct cmd_ln_s;
struct fe_s;

namespace superfluid {

// Audio per frame, at 16 kHz: 10 ms.
inline constexpr int kFrameSamples = 160;
inline constexpr int kFrameMs = 10;

// The library's feature extraction with its noise removal and voice activity detection, in a
// decoder of its own, so that what it lets through is searched a frame at a time (the library
// itself searches everything that the detector held back, 20 frames, in one go).
//
// Threads: one at a time. Lifetime: holds a reference to the configuration it was made of, whose
// count is not atomic: make and destroy it where its decoder is used.
class FrontEnd {
 public:
  // Errors: FailedPrecondition if the configuration is not of 16 kHz and 100 frames a second;
  // Internal if the library refuses it.
  static absl::StatusOr<std::unique_ptr<FrontEnd>> Create(cmd_ln_s* config);

  ~FrontEnd();
  FrontEnd(const FrontEnd&) = delete;
  FrontEnd& operator=(const FrontEnd&) = delete;

  // Takes kFrameSamples samples in [-1, 1] (the last block of a stream may be shorter) and appends
  // the frames of speech that this releases to `frames`: none in silence, many when the detector
  // decides that speech has begun, else one. Frames are consecutive in time as long as in_speech()
  // stays true; the last one appended is the latest.
  void Process(absl::Span<const float> block, std::vector<Cepstrum>& frames);

  bool in_speech() const;

  // Frames computed so far, those of silence included: the last appended one has number
  // frame_count() - 1 and begins at (frame_count() - 1) * 10 ms.
  int64_t frame_count() const { return frame_count_; }

 private:
  explicit FrontEnd(fe_s* fe);

  struct FeFree {
    void operator()(fe_s* fe) const;
  };
  static constexpr size_t kMostFrames = 128;  // more than the detector ever holds back

  std::unique_ptr<fe_s, FeFree> fe_;
  size_t dimension_;
  int64_t samples_ = 0;
  int64_t frame_count_ = 0;
  std::vector<float> cepstra_;
  std::array<float*, kMostFrames> rows_ = {};
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_POCKETSPHINX_FRONT_END_H_
