// A picture's file: its size by the header alone, then all of it.

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/llama/image_file.h"
#include "tests/fuzz/target.h"

namespace superfluid::fuzz {
namespace {

// A header of a few bytes may ask for 40 million pixels, which is promised and slow.
constexpr size_t kManyPixels = size_t{1} << 20U;

}  // namespace

void FuzzOne(std::string_view bytes) {
  const absl::string_view file(bytes.data(), bytes.size());
  const auto size = SizeOfImage(file);
  if (!size.ok()) {
    Require(absl::IsInvalidArgument(size.status()) && !DecodeImage(file).ok());
    return;
  }
  const size_t pixels = size_t{size->width} * size->height;
  Require(size->width > 0 && size->width <= kMaxImageSide);
  Require(size->height > 0 && size->height <= kMaxImageSide && pixels <= kMaxImagePixels);
  if (pixels > kManyPixels) return;
  const auto image = DecodeImage(file);
  if (!image.ok()) return Require(absl::IsInvalidArgument(image.status()));
  Require(image->rgb.size() == size_t{image->size.width} * image->size.height * 3);
}

}  // namespace superfluid::fuzz
