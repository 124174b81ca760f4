#include "engine/llama/image_file.h"

#include <stb_image.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr int kChannels = 3;
constexpr size_t kPartBytes = size_t{64} << 10U;

struct FreePixels {
  void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
};

// The library takes unsigned bytes and an int.
const stbi_uc* Bytes(absl::string_view bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return reinterpret_cast<const stbi_uc*>(bytes.data());
}

absl::Status NoImage(absl::string_view what) {
  const char* const reason = stbi_failure_reason();
  return absl::InvalidArgumentError(
      absl::StrCat(what, reason == nullptr ? "" : ": ", reason == nullptr ? "" : reason));
}

}  // namespace

absl::StatusOr<std::string> ReadImageFile(const std::string& path, const CallControl& control) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return absl::NotFoundError("there is no such file");
  if (!std::filesystem::is_regular_file(status)) {
    return absl::InvalidArgumentError("an image must be a regular file");
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file.good()) return absl::NotFoundError("the file cannot be read");
  const auto end = static_cast<int64_t>(file.tellg());
  if (end <= 0) return absl::InvalidArgumentError("the file is empty");
  if (static_cast<uint64_t>(end) > kMaxImageBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file has ", end, " bytes; an image has at most ", kMaxImageBytes));
  }
  std::string bytes(static_cast<size_t>(end), '\0');
  file.seekg(0);
  for (size_t at = 0; at < bytes.size(); at += kPartBytes) {
    if (absl::Status goes_on = control.GoOn(); !goes_on.ok()) return goes_on;
    const size_t count = std::min(kPartBytes, bytes.size() - at);
    file.read(bytes.data() + at, static_cast<std::streamsize>(count));
    if (!file.good()) return absl::NotFoundError("the file cannot be read");
  }
  return bytes;
}

absl::StatusOr<ImageSize> SizeOfImage(absl::string_view bytes) {
  if (bytes.size() > kMaxImageBytes) return absl::InvalidArgumentError("too many bytes");
  int width = 0;
  int height = 0;
  int channels = 0;
  if (stbi_info_from_memory(Bytes(bytes), static_cast<int>(bytes.size()), &width, &height,
                            &channels) == 0) {
    return NoImage("no image that can be read (JPEG, PNG, GIF, BMP, PPM, PGM)");
  }
  if (width <= 0 || height <= 0) return absl::InvalidArgumentError("an image without pixels");
  const ImageSize size{static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
  if (size.width > kMaxImageSide || size.height > kMaxImageSide ||
      uint64_t{size.width} * size.height > kMaxImagePixels) {
    return absl::InvalidArgumentError(absl::StrCat("an image of ", width, " by ", height,
                                                   " pixels; at most are ", kMaxImageSide,
                                                   " on a side and ", kMaxImagePixels, " in all"));
  }
  return size;
}

absl::StatusOr<Image> DecodeImage(absl::string_view bytes) {
  const absl::StatusOr<ImageSize> size = SizeOfImage(bytes);
  if (!size.ok()) return size.status();
  int width = 0;
  int height = 0;
  int channels = 0;
  const std::unique_ptr<stbi_uc, FreePixels> pixels(stbi_load_from_memory(
      Bytes(bytes), static_cast<int>(bytes.size()), &width, &height, &channels, kChannels));
  if (pixels == nullptr) return NoImage("the image is damaged");
  if (static_cast<uint32_t>(width) != size->width ||
      static_cast<uint32_t>(height) != size->height) {
    return absl::InvalidArgumentError("the image is damaged: it has two sizes");
  }
  Image image;
  image.size = *size;
  const uint64_t count = uint64_t{size->width} * size->height * kChannels;
  image.rgb.assign(pixels.get(), pixels.get() + count);
  return image;
}

}  // namespace superfluid
