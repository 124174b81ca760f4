#ifndef SUPERFLUID_ENGINE_WHISPER_GGML_FILE_H_
#define SUPERFLUID_ENGINE_WHISPER_GGML_FILE_H_

#include <cstdint>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace superfluid {

// Reads a model file of the ggml format in order. The first thing that goes wrong stays: afterwards
// everything read is 0 or empty, so that a parser need not ask after each number.
//
// Threads: one at a time.
class GgmlFile {
 public:
  // Opens the file and reads the magic number. Errors: NotFound; InvalidArgument for a folder, or a
  // file that begins otherwise (a GGUF file is named as such).
  static absl::StatusOr<GgmlFile> Open(const std::string& path);

  int32_t Int();
  // Of `length` bytes, at most `most`.
  std::string Text(int64_t length, int64_t most);
  void Skip(uint64_t bytes);

  // What is left of the file.
  uint64_t left() const { return left_; }
  uint64_t bytes() const { return bytes_; }

  // InvalidArgument with the first reason, which begins with the file's name.
  const absl::Status& status() const { return status_; }
  // Adds a reason of the caller's.
  void Fail(const std::string& reason);

 private:
  GgmlFile(std::string name, std::ifstream stream, uint64_t bytes)
      : name_(std::move(name)), stream_(std::move(stream)), bytes_(bytes), left_(bytes) {}
  bool Take(uint64_t bytes);

  std::string name_;
  std::ifstream stream_;
  uint64_t bytes_ = 0;
  uint64_t left_ = 0;
  absl::Status status_;
};

// What the tensors at the end of such a file sum up to.
struct GgmlTensors {
  int count = 0;
  uint64_t elements = 0;
};

// Reads the headers of all tensors up to the end of the file, skipping their data. A tensor's type
// must be f32, f16, or the quantised `weight_type` (a number of ggml's).
GgmlTensors SkipTensors(GgmlFile& file, int32_t weight_type);

// Elements and bytes of a block of a ggml type; 0 and 0 if it is none that models are stored in.
struct GgmlBlock {
  uint64_t elements = 0;
  uint64_t bytes = 0;
};
GgmlBlock BlockOf(int32_t type);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_GGML_FILE_H_
