#include "engine/pocketsphinx/front_end.h"

#include <sphinxbase/cmd_ln.h>
#include <sphinxbase/fe.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "absl/status/status.h"
#include "engine/audio/audio_source.h"

namespace superfluid {

static_assert(std::is_same_v<mfcc_t, float>, "the library was built for fixed point");

void FrontEnd::FeFree::operator()(fe_s* fe) const { fe_free(fe); }

absl::StatusOr<std::unique_ptr<FrontEnd>> FrontEnd::Create(cmd_ln_s* config) {
  const bool usual = cmd_ln_float_r(config, "-samprate") == kEngineSampleRateHz &&
                     cmd_ln_int_r(config, "-frate") == 1000 / kFrameMs;
  if (!usual) {
    return absl::FailedPreconditionError(
        "the model is not for audio of 16 kHz and 100 frames a second");
  }
  fe_s* fe = fe_init_auto_r(config);
  if (fe == nullptr) return absl::InternalError("the library cannot make a front end");
  return std::unique_ptr<FrontEnd>(new FrontEnd(fe));
}

FrontEnd::FrontEnd(fe_s* fe)
    : fe_(fe),
      dimension_(static_cast<size_t>(fe_get_output_size(fe))),
      cepstra_(kMostFrames * dimension_) {
  for (size_t i = 0; i < kMostFrames; ++i) rows_[i] = cepstra_.data() + i * dimension_;
}

FrontEnd::~FrontEnd() = default;

void FrontEnd::Process(absl::Span<const float> block, std::vector<Cepstrum>& frames) {
  std::array<int16, kFrameSamples> pcm = {};
  size_t left = std::min(block.size(), pcm.size());
  std::transform(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(left), pcm.begin(),
                 [](float sample) {
                   const float scaled = std::clamp(sample * 32768.0F, -32768.0F, 32767.0F);
                   return static_cast<int16>(std::lrint(scaled));
                 });
  samples_ += static_cast<int64_t>(left);
  const int16* next = pcm.data();
  while (left > 0) {
    const size_t before = left;
    int32 count = kMostFrames;
    int32 first = 0;
    fe_process_frames(fe_.get(), &next, &left, rows_.data(), &count, &first);
    for (int32 i = 0; i < count; ++i)
      frames.emplace_back(rows_[static_cast<size_t>(i)],
                          rows_[static_cast<size_t>(i)] + dimension_);
    if (left == before && count == 0) break;  // it takes no more
  }
  int32 shift = 0;
  int32 size = 0;
  fe_get_input_size(fe_.get(), &shift, &size);
  frame_count_ = samples_ < size ? 0 : 1 + (samples_ - size) / shift;
}

bool FrontEnd::in_speech() const { return fe_get_vad_state(fe_.get()) != 0; }

}  // namespace superfluid
