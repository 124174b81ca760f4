#include "engine/whisper/ggml_file.h"

#include <array>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr uint32_t kGgmlMagic = 0x67676D6C;
constexpr uint32_t kGgufMagic = 0x46554747;
constexpr int kMostTensors = 10'000;
constexpr int64_t kMostNameBytes = 128;

struct TypeBlock {
  int32_t type = 0;
  GgmlBlock block;
};

constexpr TypeBlock kBlocks[] = {
    {0, {1, 4}},       // f32
    {1, {1, 2}},       // f16
    {2, {32, 18}},     // q4_0
    {3, {32, 20}},     // q4_1
    {6, {32, 22}},     // q5_0
    {7, {32, 24}},     // q5_1
    {8, {32, 34}},     // q8_0
    {10, {256, 84}},   // q2_K
    {11, {256, 110}},  // q3_K
    {12, {256, 144}},  // q4_K
    {13, {256, 176}},  // q5_K
    {14, {256, 210}},  // q6_K
};

// The tensor's elements; 0 if its header makes no sense.
uint64_t ReadShape(GgmlFile& file, int32_t dimensions, GgmlBlock block) {
  uint64_t elements = 1;
  for (int32_t i = 0; i < dimensions; ++i) {
    const int32_t size = file.Int();
    if (size <= 0 || elements > file.bytes()) return 0;  // even quantised, 8 elements are a byte
    if (i == 0 && static_cast<uint64_t>(size) % block.elements != 0) return 0;
    elements *= static_cast<uint64_t>(size);
  }
  return elements;
}

}  // namespace

GgmlBlock BlockOf(int32_t type) {
  for (const TypeBlock& known : kBlocks) {
    if (known.type == type) return known.block;
  }
  return {};
}

absl::StatusOr<GgmlFile> GgmlFile::Open(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return absl::NotFoundError(absl::StrCat("there is no model file ", path));
  }
  if (!std::filesystem::is_regular_file(status)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a file"));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return absl::NotFoundError(absl::StrCat("the model file ", path, " is unreadable"));
  const uint64_t bytes = std::filesystem::file_size(path, error);
  GgmlFile file(std::filesystem::path(path).filename().string(), std::move(stream),
                error ? 0 : bytes);
  const auto magic = static_cast<uint32_t>(file.Int());
  if (magic == kGgufMagic) {
    file.Fail("is a GGUF file; Whisper models come in the older ggml format");
  } else if (magic != kGgmlMagic) {
    file.Fail("is no model in ggml format (it begins with other bytes)");
  }
  if (!file.status().ok()) return file.status();
  return file;
}

int32_t GgmlFile::Int() {
  std::array<unsigned char, 4> bytes = {};
  if (!Take(bytes.size())) return 0;
  stream_.read(reinterpret_cast<char*>(bytes.data()), bytes.size());
  if (!stream_) Fail("cannot be read");
  return static_cast<int32_t>(uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 |
                              uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24);
}

std::string GgmlFile::Text(int64_t length, int64_t most) {
  if (length < 0 || length > most) Fail("has a text of an impossible length");
  if (!status_.ok() || !Take(static_cast<uint64_t>(length))) return {};
  std::string text(static_cast<size_t>(length), '\0');
  stream_.read(text.data(), length);
  if (!stream_) Fail("cannot be read");
  return text;
}

void GgmlFile::Skip(uint64_t bytes) {
  if (Take(bytes)) stream_.seekg(static_cast<std::streamoff>(bytes), std::ios::cur);
}

void GgmlFile::Fail(const std::string& reason) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(name_, " ", reason));
  left_ = 0;
}

bool GgmlFile::Take(uint64_t bytes) {
  if (!status_.ok()) return false;
  if (bytes > left_) {
    Fail("is cut off");
    return false;
  }
  left_ -= bytes;
  return true;
}

GgmlTensors SkipTensors(GgmlFile& file, int32_t weight_type) {
  GgmlTensors tensors;
  std::set<std::string> names;
  while (file.left() > 0) {
    const int32_t dimensions = file.Int();
    const int32_t length = file.Int();
    const int32_t type = file.Int();
    const GgmlBlock block = BlockOf(type);
    const bool usual = type == 0 || type == 1 || type == weight_type;
    if (dimensions < 0 || dimensions > 4 || !usual || block.elements == 0) {
      file.Fail("has a tensor that makes no sense");
      break;
    }
    const uint64_t elements = ReadShape(file, dimensions, block);
    const std::string name = file.Text(length, kMostNameBytes);
    if (elements == 0 || elements / block.elements > file.left()) {
      file.Fail(elements == 0 ? "has a tensor of an impossible size" : "is cut off");
    }
    if (!names.insert(name).second) file.Fail("has a tensor twice");
    file.Skip(elements / block.elements * block.bytes);
    tensors.elements += elements;
    if (++tensors.count > kMostTensors) file.Fail("has too many tensors");
  }
  return tensors;
}

}  // namespace superfluid
