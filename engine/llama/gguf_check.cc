#include "engine/llama/gguf_check.h"

#include <ggml.h>
#include <gguf.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/loader/model_files.h"
#include "engine/sampling/mix.h"

namespace superfluid {
namespace {

constexpr uint64_t kMaxEntries = 1U << 20U;  // keys, and tensors
constexpr uint64_t kMaxHeaderBytes = 1U << 30U;
constexpr uint64_t kMaxNameBytes = 65'536;
constexpr uint64_t kMaxElements = uint64_t{1} << 40U;
constexpr uint32_t kMaxDimensions = 4;
constexpr uint64_t kDefaultAlignment = 32;
constexpr size_t kSamples = 64;
constexpr size_t kSampleBytes = 4096;
constexpr uint64_t kPartBytes = uint64_t{64} << 10U;  // between two signs of life
constexpr std::array<uint64_t, 13> kSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("no usable GGUF file: ", what));
}

absl::Status CutOff() { return Bad("it ends within its header"); }

// Reads little-endian values; everything read goes into the fingerprint.
class Reader {
 public:
  Reader(const std::string& path, const CallControl& control)
      : control_(control), file_(path, std::ios::binary | std::ios::ate) {
    if (!file_.good()) return;
    const auto end = static_cast<int64_t>(file_.tellg());
    size_ = end < 0 ? 0 : static_cast<uint64_t>(end);
    file_.seekg(0);
  }

  bool good() const { return file_.good(); }
  uint64_t size() const { return size_; }
  uint64_t at() const { return at_; }
  uint64_t left() const { return size_ - at_; }
  uint64_t fingerprint() const { return fingerprint_; }

  bool Bytes(char* out, uint64_t count) {
    if (count > left() || at_ + count > kMaxHeaderBytes || !GoOn(count)) return false;
    file_.read(out, static_cast<std::streamsize>(count));
    if (!file_.good()) return false;
    at_ += count;
    fingerprint_ = MixBytes({out, count}, fingerprint_);
    return true;
  }

  template <typename Number>
  bool Read(Number& number) {
    std::array<char, sizeof(Number)> bytes{};
    if (!Bytes(bytes.data(), bytes.size())) return false;
    std::memcpy(&number, bytes.data(), bytes.size());
    return true;
  }

  bool ReadText(std::string& text) {
    uint64_t length = 0;
    if (!Read(length) || length > left() || at_ + length > kMaxHeaderBytes) return false;
    text.resize(length);
    return Bytes(text.data(), length);
  }

  bool Skip(uint64_t count) {
    std::array<char, 4096> chunk{};
    for (; count > chunk.size(); count -= chunk.size()) {
      if (!Bytes(chunk.data(), chunk.size())) return false;
    }
    return Bytes(chunk.data(), count);
  }

  // Samples of what follows the header.
  bool Sample() {
    std::vector<char> sample(kSampleBytes);
    for (size_t i = 0; i < kSamples; ++i) {
      const uint64_t start = at_ + (size_ - at_) / kSamples * i;
      const uint64_t count = std::min<uint64_t>(kSampleBytes, size_ - start);
      if (!GoOn(kPartBytes)) return false;
      file_.seekg(static_cast<std::streamoff>(start));
      file_.read(sample.data(), static_cast<std::streamsize>(count));
      if (!file_.good()) return false;
      fingerprint_ = MixBytes({sample.data(), count}, fingerprint_);
    }
    fingerprint_ = Mix(fingerprint_, size_);
    return true;
  }

 private:
  // Before `count` bytes are read.
  bool GoOn(uint64_t count) {
    unreported_ += count;
    if (unreported_ < kPartBytes) return true;
    unreported_ = 0;
    return control_.GoOn().ok();
  }

  const CallControl& control_;
  uint64_t unreported_ = 0;  // bytes since the last sign of life
  std::ifstream file_;
  uint64_t size_ = 0;
  uint64_t at_ = 0;
  uint64_t fingerprint_ = 0;
};

class Header {
 public:
  Header(const std::string& path, const CallControl& control) : in_(path, control) {}

  absl::StatusOr<GgufFacts> Check() {
    if (!in_.good()) return absl::NotFoundError("there is no such file, or it cannot be read");
    uint64_t tensors = 0;
    uint64_t keys = 0;
    if (absl::Status status = ReadStart(tensors, keys); !status.ok()) return status;
    for (uint64_t i = 0; i < keys; ++i) {
      if (absl::Status status = ReadKey(); !status.ok()) return status;
    }
    for (uint64_t i = 0; i < tensors; ++i) {
      if (absl::Status status = ReadTensor(); !status.ok()) return status;
    }
    const uint64_t start = (in_.at() + alignment_ - 1) / alignment_ * alignment_;
    if (tensors > 0 && (start > in_.size() || last_byte_ > in_.size() - start)) {
      return Bad("its tensors go beyond its end; it is truncated");
    }
    if (in_.left() > 0 && !in_.Sample()) return absl::NotFoundError("the file cannot be read");
    for (GgufFacts::Tensor& tensor : facts_.tensors) tensor.start += start;
    facts_.file_bytes = in_.size();
    facts_.fingerprint = in_.fingerprint();
    return facts_;
  }

 private:
  absl::Status ReadStart(uint64_t& tensors, uint64_t& keys) {
    std::array<char, 4> magic{};
    uint32_t version = 0;
    if (!in_.Bytes(magic.data(), magic.size())) return Bad("it is too short");
    if (absl::string_view(magic.data(), magic.size()) != "GGUF") return Bad("it has another magic");
    if (!in_.Read(version)) return CutOff();
    if (version < 2 || version > GGUF_VERSION) {
      return Bad(absl::StrCat("it has version ", version, "; known are 2 to ", GGUF_VERSION));
    }
    if (!in_.Read(tensors) || !in_.Read(keys)) return CutOff();
    if (tensors > kMaxEntries || keys > kMaxEntries) {
      return Bad(absl::StrCat("it claims ", tensors, " tensors and ", keys, " keys"));
    }
    return absl::OkStatus();
  }

  absl::Status ReadKey() {
    std::string key;
    uint32_t type = 0;
    if (!in_.ReadText(key) || !in_.Read(type)) return CutOff();
    if (key.size() > kMaxNameBytes) return Bad("a key is too long");
    if (type == GGUF_TYPE_STRING) {
      std::string text;
      if (!in_.ReadText(text)) return CutOff();
      if (key == "general.architecture") facts_.architecture = text;
      if (key == "general.type") facts_.type = text;
      return absl::OkStatus();
    }
    if (type == GGUF_TYPE_ARRAY) return ReadArray(key);
    if (type >= kSizes.size()) return Bad(absl::StrCat("a value has the unknown type ", type));
    if (key == "general.alignment" && type == GGUF_TYPE_UINT32) return ReadAlignment();
    return in_.Skip(kSizes[type]) ? absl::OkStatus() : CutOff();
  }

  absl::Status ReadAlignment() {
    uint32_t alignment = 0;
    if (!in_.Read(alignment)) return CutOff();
    if (alignment == 0 || alignment > 65'536 || (alignment & (alignment - 1)) != 0) {
      return Bad(absl::StrCat("an alignment of ", alignment));
    }
    alignment_ = alignment;
    return absl::OkStatus();
  }

  absl::Status ReadArray(const std::string& key) {
    uint32_t type = 0;
    uint64_t count = 0;
    if (!in_.Read(type) || !in_.Read(count)) return CutOff();
    if (type >= kSizes.size() || type == GGUF_TYPE_ARRAY) return Bad("an array of unknown type");
    if (type != GGUF_TYPE_STRING) {
      if (count > in_.left() / kSizes[type]) return CutOff();
      return in_.Skip(count * kSizes[type]) ? absl::OkStatus() : CutOff();
    }
    if (count > in_.left() / sizeof(uint64_t)) return CutOff();
    // The library ends the process if two tokens are the same.
    const bool tokens = key == "tokenizer.ggml.tokens";
    absl::flat_hash_set<std::string> known;
    std::string text;
    for (uint64_t i = 0; i < count; ++i) {
      if (!in_.ReadText(text)) return CutOff();
      if (tokens && !known.insert(text).second) return Bad("a token comes twice");
    }
    return absl::OkStatus();
  }

  absl::Status ReadTensor() {
    std::string name;
    uint32_t dimensions = 0;
    if (!in_.ReadText(name) || !in_.Read(dimensions)) return CutOff();
    if (dimensions == 0 || dimensions > kMaxDimensions) {
      return Bad(absl::StrCat("a tensor of ", dimensions, " dimensions"));
    }
    uint64_t elements = 1;
    for (uint32_t i = 0; i < dimensions; ++i) {
      uint64_t size = 0;
      if (!in_.Read(size)) return CutOff();
      if (size == 0 || size > kMaxElements / elements) return Bad("the size of a tensor cannot be");
      elements *= size;
    }
    uint32_t type = 0;
    uint64_t offset = 0;
    if (!in_.Read(type) || !in_.Read(offset)) return CutOff();
    if (type >= GGML_TYPE_COUNT || ggml_blck_size(static_cast<ggml_type>(type)) <= 0) {
      return Bad(absl::StrCat("a tensor of the unknown type ", type));
    }
    const auto block = static_cast<uint64_t>(ggml_blck_size(static_cast<ggml_type>(type)));
    const uint64_t bytes = elements / block * ggml_type_size(static_cast<ggml_type>(type));
    if (offset > std::numeric_limits<uint64_t>::max() - bytes) return Bad("a tensor's place");
    last_byte_ = std::max(last_byte_, offset + bytes);
    facts_.tensors.push_back({std::move(name), static_cast<int32_t>(type), offset, bytes});
    return absl::OkStatus();
  }

  Reader in_;
  GgufFacts facts_;
  uint64_t alignment_ = kDefaultAlignment;
  uint64_t last_byte_ = 0;  // of the tensors, from where they begin
};

bool IsComputedWith(ggml_type type) {
  return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16 ||
         ggml_is_quantized(type);
}

struct FreeHash {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using TensorHash = std::unique_ptr<XXH3_state_t, FreeHash>;

absl::Status CheckTensor(std::ifstream& file, const GgufFacts::Tensor& tensor,
                         const CallControl& control, XXH3_state_t* hash) {
  const auto type = static_cast<ggml_type>(tensor.type);
  if (!IsComputedWith(type)) {
    return Bad(absl::StrCat("the tensor ", tensor.name, " has the type ", ggml_type_name(type)));
  }
  // Whole blocks, since they are checked one by one.
  const uint64_t part = kPartBytes / ggml_type_size(type) * ggml_type_size(type);
  std::vector<char> bytes(std::min(part, tensor.bytes));
  file.seekg(static_cast<std::streamoff>(tensor.start));
  for (uint64_t at = 0; at < tensor.bytes; at += part) {
    if (absl::Status status = control.GoOn(); !status.ok()) return status;
    const uint64_t count = std::min(part, tensor.bytes - at);
    file.read(bytes.data(), static_cast<std::streamsize>(count));
    if (!file.good()) return absl::NotFoundError("the file cannot be read");
    if (!ggml_validate_row_data(type, bytes.data(), count)) {
      return Bad(absl::StrCat("the tensor ", tensor.name, " holds what is no finite number"));
    }
    XXH3_64bits_update(hash, bytes.data(), count);
  }
  return absl::OkStatus();
}

absl::StatusOr<GgufFacts> CheckFile(const std::string& path, const CallControl& control) {
  absl::StatusOr<GgufFacts> facts = Header(path, control).Check();
  if (!facts.ok() && control.token().cancelled()) return absl::CancelledError("cancelled");
  return facts;
}

}  // namespace

absl::StatusOr<GgufFacts> CheckGguf(const std::string& path, const CallControl& control) {
  absl::StatusOr<GgufFacts> facts = CheckFile(path, control);
  if (facts.ok() && facts->architecture.empty()) return Bad("it does not say its architecture");
  return facts;
}

absl::StatusOr<GgufFacts> CheckGgufModel(const std::string& path, const CallControl& control) {
  absl::StatusOr<GgufFacts> whole = GgufFacts();
  for (const std::string& shard : ShardsOf(path)) {
    // Only the first shard says what the model is.
    const bool is_first = whole->file_bytes == 0;
    absl::StatusOr<GgufFacts> facts =
        is_first ? CheckGguf(shard, control) : CheckFile(shard, control);
    if (!facts.ok()) {
      return absl::Status(facts.status().code(),
                          absl::StrCat(shard, ": ", facts.status().message()));
    }
    if (is_first) {
      whole = std::move(facts);
      continue;
    }
    whole->file_bytes += facts->file_bytes;
    whole->fingerprint = Mix(whole->fingerprint, facts->fingerprint);
  }
  return whole;
}

absl::StatusOr<uint64_t> CheckGgufTensors(const std::string& path, const GgufFacts& facts,
                                          const CallControl& control) {
  const TensorHash hash(XXH3_createState());
  if (hash == nullptr) return absl::ResourceExhaustedError("no memory to hash the tensors");
  XXH3_64bits_reset(hash.get());
  std::ifstream file(path, std::ios::binary);
  for (const GgufFacts::Tensor& tensor : facts.tensors) {
    absl::Status status = CheckTensor(file, tensor, control, hash.get());
    if (!status.ok()) return status;
  }
  return XXH3_64bits_digest(hash.get());
}

}  // namespace superfluid
