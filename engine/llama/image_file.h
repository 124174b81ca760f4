#ifndef SUPERFLUID_ENGINE_LLAMA_IMAGE_FILE_H_
#define SUPERFLUID_ENGINE_LLAMA_IMAGE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/call_control.h"

namespace superfluid {

inline constexpr size_t kMaxImageBytes = size_t{32} << 20U;  // of a file
inline constexpr uint32_t kMaxImageSide = 16'384;
inline constexpr uint64_t kMaxImagePixels = 40'000'000;

struct ImageSize {
  uint32_t width = 0;
  uint32_t height = 0;
};

struct Image {
  ImageSize size;
  std::vector<unsigned char> rgb;  // three bytes a pixel, row by row from the top
};

// The bytes of an image's file, whatever they are. Errors: NotFound (no file, cannot be read),
// InvalidArgument (a folder or anything else that is no regular file, empty, more than
// kMaxImageBytes), Cancelled. Each part read is a sign of life.
absl::StatusOr<std::string> ReadImageFile(const std::string& path,
                                          const CallControl& control = CallControl());

// JPEG, PNG, GIF (its first picture), BMP, PPM and PGM. The first looks at the header alone. A JPEG
// or BMP that ends early may be read as far as it goes.
// Errors: InvalidArgument (another format, damaged, larger than the constants above).
absl::StatusOr<ImageSize> SizeOfImage(absl::string_view bytes);
absl::StatusOr<Image> DecodeImage(absl::string_view bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_IMAGE_FILE_H_
