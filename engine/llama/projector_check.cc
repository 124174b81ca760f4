#include "engine/llama/projector_check.h"

#include <gguf.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

struct FreeGguf {
  void operator()(gguf_context* file) const { gguf_free(file); }
};
using Gguf = std::unique_ptr<gguf_context, FreeGguf>;

struct Bound {
  const char* key = nullptr;
  uint32_t least = 0;
  uint32_t most = 0;
};

constexpr const char* kBlocks = "clip.vision.block_count";
constexpr const char* kImageSize = "clip.vision.image_size";
constexpr const char* kPatchSize = "clip.vision.patch_size";
constexpr std::array kBounds = {Bound{kBlocks, 0, 512},
                                Bound{"clip.vision.embedding_length", 1, 65'536},
                                Bound{"clip.vision.feed_forward_length", 0, 1U << 20U},
                                Bound{"clip.vision.attention.head_count", 0, 4096},
                                Bound{kImageSize, 0, 8192},
                                Bound{kPatchSize, 1, 1024}};
constexpr uint64_t kMaxPatches = 65'536;  // of an image as the projector sees it

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("no usable projector: ", what));
}

int64_t Find(const Gguf& file, const char* key, gguf_type type) {
  const int64_t id = gguf_find_key(file.get(), key);
  return id >= 0 && gguf_get_kv_type(file.get(), id) == type ? id : -1;
}

std::optional<uint32_t> Number(const Gguf& file, const char* key) {
  const int64_t id = Find(file, key, GGUF_TYPE_UINT32);
  if (id < 0) return std::nullopt;
  return gguf_get_val_u32(file.get(), id);
}

std::string Text(const Gguf& file, const char* key) {
  const int64_t id = Find(file, key, GGUF_TYPE_STRING);
  return id < 0 ? "" : gguf_get_val_str(file.get(), id);
}

absl::Status CheckNumbers(const Gguf& file) {
  for (const Bound& bound : kBounds) {
    const std::optional<uint32_t> number = Number(file, bound.key);
    if (!number.has_value()) return Bad(absl::StrCat("it does not say ", bound.key));
    if (*number < bound.least || *number > bound.most) {
      return Bad(absl::StrCat(bound.key, " is ", *number));
    }
  }
  const uint64_t side = *Number(file, kImageSize) / *Number(file, kPatchSize);
  return side * side > kMaxPatches ? Bad("its images have too many patches") : absl::OkStatus();
}

bool Has(const Gguf& file, const std::string& tensor) {
  return gguf_find_tensor(file.get(), tensor.c_str()) >= 0;
}

// What the library takes to be there, of the common kinds that have no other form.
absl::Status CheckTensors(const Gguf& file, absl::string_view kind) {
  if (kind != "mlp" && kind != "gemma3") return absl::OkStatus();
  std::vector<std::string> needed = {"v.patch_embd.weight", "v.position_embd.weight"};
  if (kind == "mlp") {
    const char* const last = Has(file, "mm.3.weight") ? "mm.3" : "mm.2";
    needed.insert(needed.end(), {"mm.0.weight", "mm.0.bias", absl::StrCat(last, ".weight"),
                                 absl::StrCat(last, ".bias")});
  }
  const uint32_t layers = Number(file, kBlocks).value_or(0);
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string layer = absl::StrCat("v.blk.", i, ".attn_");
    for (const char* part : {"q", "k", "v"}) needed.push_back(absl::StrCat(layer, part, ".weight"));
  }
  for (const std::string& tensor : needed) {
    if (!Has(file, tensor)) return Bad(absl::StrCat("it has no tensor ", tensor));
  }
  return absl::OkStatus();
}

absl::Status CheckKind(const Gguf& file) {
  const int64_t vision = Find(file, "clip.has_vision_encoder", GGUF_TYPE_BOOL);
  if (vision < 0 || !gguf_get_val_bool(file.get(), vision)) return Bad("it encodes no images");
  std::string kind = Text(file, "clip.projector_type");
  if (kind.empty()) kind = Text(file, "clip.vision.projector_type");
  if (absl::Status status = CheckTensors(file, kind); !status.ok()) return status;
  if (kind == "deepseek4v") {
    return Bad("images of this kind are padded by their place in the text");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GgufFacts> CheckProjector(const std::string& path) {
  absl::StatusOr<GgufFacts> facts = CheckGguf(path);
  if (!facts.ok()) return facts.status();
  if (facts->architecture != "clip") {
    return Bad(absl::StrCat("the file is a model of architecture ", facts->architecture));
  }
  const Gguf file(gguf_init_from_file(path.c_str(), {/*no_alloc=*/true, /*ctx=*/nullptr}));
  if (file == nullptr) return Bad("the library cannot read the file");
  absl::Status status = CheckNumbers(file);
  if (status.ok()) status = CheckKind(file);
  if (!status.ok()) return status;
  return facts;
}

}  // namespace superfluid
