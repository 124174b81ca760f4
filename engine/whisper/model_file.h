#ifndef SUPERFLUID_ENGINE_WHISPER_MODEL_FILE_H_
#define SUPERFLUID_ENGINE_WHISPER_MODEL_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace superfluid {

// What the header of a Whisper model in ggml format says.
struct WhisperModelFile {
  std::string name;  // of the file, for people: "ggml-base.en.bin"
  uint64_t bytes = 0;
  int vocabulary = 0;  // tokens
  int audio_context = 0;
  int audio_width = 0;
  int audio_heads = 0;
  int audio_layers = 0;
  int text_context = 0;
  int text_width = 0;
  int text_heads = 0;
  int text_layers = 0;
  int mel_bands = 0;
  std::string weights;  // "f16", "q5_0", ...

  bool multilingual() const;
  int languages() const;  // 1 for a model of English only
};

// Reads a model file from its beginning to its end without its weights, and checks all that the
// library believes without looking: it allocates what the header asks for, indexes tokens that a
// vocabulary must have, and takes what is behind the end of the file as it comes.
//
// Errors: NotFound; InvalidArgument with the reason for a file that is no Whisper model (a GGUF
// file and a voice activity model are named as such), is cut off, or has sizes that do not belong
// together. Threads: any.
absl::StatusOr<WhisperModelFile> CheckWhisperModel(const std::string& path);

// The same for a Silero voice activity model in ggml format.
absl::Status CheckVadModel(const std::string& path);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_MODEL_FILE_H_
