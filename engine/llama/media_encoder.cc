#include "engine/llama/media_encoder.h"

#include <llama.h>
#include <mtmd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/compute_threads.h"
#include "engine/llama/heartbeat.h"
#include "engine/llama/library_guard.h"
#include "engine/llama/projector_check.h"
#include "engine/loader/sha256.h"
#include "engine/monotonic_time.h"

namespace superfluid {
namespace {

constexpr uint32_t kBlankSide = 512;  // of the image that is encoded at start
constexpr unsigned char kGrey = 128;

struct FreeBitmap {
  void operator()(mtmd_bitmap* bitmap) const { mtmd_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<mtmd_bitmap, FreeBitmap>;

struct FreeChunks {
  void operator()(mtmd_input_chunks* chunks) const { mtmd_input_chunks_free(chunks); }
};

// The token that is one piece of text; the library's vocabulary has it or not.
bool HasToken(const llama_vocab* vocab, absl::string_view text, uint32_t& found) {
  std::array<llama_token, 8> tokens{};
  const int32_t count = llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()),
                                       tokens.data(), static_cast<int32_t>(tokens.size()),
                                       /*add_special=*/false, /*parse_special=*/true);
  if (count == 1) found = static_cast<uint32_t>(tokens[0]);
  return count == 1;
}

// Which token stands for a part of an image in a prompt: the model's own, if it has one. It is not
// computed.
uint32_t ImageToken(const llama_vocab* vocab) {
  uint32_t token = 0;
  for (const char* text : {"<image_soft_token>", "<|image_pad|>", "<|image|>", "<image>", "[IMG]",
                           "<|patch|>", "<IMG_CONTEXT>", "<|media_pad|>"}) {
    if (HasToken(vocab, text, token)) return token;
  }
  const llama_token pad = llama_vocab_pad(vocab);
  return pad < 0 ? 0 : static_cast<uint32_t>(pad);
}

}  // namespace

// What the library asks at each node of its graph: whether it may compute up to here and let us
// look, and then, whether it may go on.
class MediaEncoder::EncodeHook {
 public:
  // How many nodes the library computes between two looks.
  static constexpr int kNodes = 4;

  // While it exists the library asks this control.
  class Use {
   public:
    Use(EncodeHook& hook, const CallControl& control) : hook_(hook), beat_(control) {
      hook_.control_ = &control;
      hook_.beat_ = &beat_;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { hook_.control_ = nullptr; }

   private:
    EncodeHook& hook_;
    Heartbeat beat_;
  };

  static bool Ask(ggml_tensor* /*node*/, bool ask, void* hook) {
    return static_cast<EncodeHook*>(hook)->Answer(ask);
  }

 private:
  bool Answer(bool ask) {
    if (control_ == nullptr) return !ask;
    if (ask) return ++nodes_ % kNodes == 0;
    beat_->Beat();
    return !control_->token().cancelled();
  }

  const CallControl* control_ = nullptr;  // null: nobody wants to know
  Heartbeat* beat_ = nullptr;
  int nodes_ = 0;
};

MediaEncoder::MediaEncoder(LlamaModel& model)
    : model_(model), hook_(std::make_unique<EncodeHook>()) {}

// What the library makes of one image: parts, some of which are text. A single token before and
// after the image is for the prompt to say; other text is part of what stands for the image.
class MediaEncoder::Chunks {
 public:
  static absl::StatusOr<Chunks> Of(const mtmd_context* context, LlamaLibrary& library,
                                   const mtmd_bitmap* image) {
    Chunks chunks;
    chunks.all_.reset(mtmd_input_chunks_init());
    const char* const marker = mtmd_get_marker(context);
    const mtmd_input_text text{marker, std::strlen(marker), /*add_special=*/false,
                               /*parse_special=*/true};
    (void)library.TakeError();
    if (mtmd_tokenize(context, chunks.all_.get(), &text, &image, 1) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the image cannot be prepared: ", library.TakeError()));
    }
    chunks.Trim();
    if (chunks.Tokens() == 0) return absl::InternalError("no token stands for the image");
    return chunks;
  }

  size_t size() const { return end_ - begin_; }
  const mtmd_input_chunk* operator[](size_t index) const {
    return mtmd_input_chunks_get(all_.get(), begin_ + index);
  }
  bool IsText(size_t index) const {
    return mtmd_input_chunk_get_type((*this)[index]) == MTMD_INPUT_CHUNK_TYPE_TEXT;
  }
  uint64_t Tokens(size_t index) const { return mtmd_input_chunk_get_n_tokens((*this)[index]); }
  uint64_t Tokens() const {
    uint64_t tokens = 0;
    for (size_t i = 0; i < size(); ++i) tokens += Tokens(i);
    return tokens;
  }
  std::optional<uint32_t> before() const { return before_; }
  std::optional<uint32_t> after() const { return after_; }

 private:
  void Trim() {
    end_ = mtmd_input_chunks_size(all_.get());
    if (end_ > 1) before_ = Single(0);
    if (before_.has_value()) ++begin_;
    if (end_ > begin_ + 1) after_ = Single(size() - 1);
    if (after_.has_value()) --end_;
  }

  std::optional<uint32_t> Single(size_t index) const {
    size_t count = 0;
    const llama_token* tokens = mtmd_input_chunk_get_tokens_text((*this)[index], &count);
    if (tokens == nullptr || count != 1) return std::nullopt;
    return static_cast<uint32_t>(tokens[0]);
  }

  std::unique_ptr<mtmd_input_chunks, FreeChunks> all_;
  size_t begin_ = 0;
  size_t end_ = 0;
  std::optional<uint32_t> before_;
  std::optional<uint32_t> after_;
};

absl::StatusOr<std::unique_ptr<MediaEncoder>> MediaEncoder::Load(const EngineConfig& config,
                                                                 const LlamaOptions& options,
                                                                 LlamaModel& model) {
  absl::StatusOr<GgufFacts> facts = CheckProjector(options.mmproj);
  if (!facts.ok()) {
    return absl::Status(facts.status().code(),
                        absl::StrCat(options.mmproj, ": ", facts.status().message()));
  }
  // Not make_unique: the constructor is private.
  std::unique_ptr<MediaEncoder> encoder(new MediaEncoder(model));
  encoder->facts_ = *std::move(facts);
  absl::Status status = encoder->Open(config, options);
  if (status.ok()) status = encoder->CheckKind();
  if (status.ok()) status = encoder->WarmUp();
  if (!status.ok()) return status;
  return encoder;
}

MediaEncoder::~MediaEncoder() {
  if (context_ != nullptr && !broken_) mtmd_free(context_);
}

absl::Status MediaEncoder::Open(const EngineConfig& config, const LlamaOptions& options) {
  ggml_log_callback log = nullptr;
  void* user = nullptr;
  llama_log_get(&log, &user);
  mtmd_log_set(log, user);
  mtmd_context_params params = mtmd_context_params_default();
  params.use_gpu = model_.device() != nullptr;
  params.device = model_.device();
  params.print_timings = false;
  params.n_threads = LimitThreads(config.threads).threads;
  params.flash_attn_type =
      options.exact ? LLAMA_FLASH_ATTN_TYPE_DISABLED : LLAMA_FLASH_ATTN_TYPE_AUTO;
  params.warmup = true;
  params.cb_eval = &EncodeHook::Ask;
  params.cb_eval_user_data = hook_.get();
  (void)model_.library().TakeError();
  std::string reason;
  try {
    // The library catches what is thrown, and says it in its log.
    const LibraryGuard guard;
    context_ = mtmd_init_from_file(options.mmproj.c_str(), model_.model(), params);
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (context_ != nullptr) return absl::OkStatus();
  if (reason.empty()) reason = model_.library().TakeError();
  return absl::InvalidArgumentError(
      absl::StrCat(options.mmproj, ": the projector cannot be loaded: ", reason));
}

absl::Status MediaEncoder::CheckKind() const {
  if (!mtmd_support_vision(context_)) {
    return absl::InvalidArgumentError("the projector encodes no images");
  }
  if (mtmd_decode_use_mrope(context_)) {
    return absl::InvalidArgumentError(
        "the model gives the parts of an image positions of several dimensions (M-RoPE, as the "
        "Qwen-VL models do), which this engine does not have: start it without mmproj");
  }
  return absl::OkStatus();
}

template <typename Result, typename Call>
absl::StatusOr<Result> MediaEncoder::Guarded(Call call) {
  if (broken_) return absl::InternalError("the projector has failed; restart the worker");
  const LibraryGuard guard;
  try {
    absl::StatusOr<Result> result = call();
    broken_ = guard.failed();
    return result;
  } catch (const std::exception& error) {
    broken_ = guard.failed();
    return absl::InternalError(absl::StrCat("the projector has failed: ", error.what()));
  }
}

absl::Status MediaEncoder::WarmUp() {
  image_token_ = ImageToken(model_.vocab());
  const std::vector<unsigned char> grey(size_t{kBlankSide} * kBlankSide * 3, kGrey);
  const absl::Time start = MonotonicTime();
  const auto item = Guarded<MediaItemRef>([&]() -> absl::StatusOr<MediaItemRef> {
    const absl::StatusOr<Chunks> chunks = Prepare({kBlankSide, kBlankSide}, grey.data());
    if (!chunks.ok()) return chunks.status();
    return EncodeChunks(*chunks, 0, CallControl());
  });
  encode_time_ = MonotonicTime() - start;
  if (item.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a blank image cannot be encoded: ", item.status().message()));
}

uint64_t MediaEncoder::Fingerprint(absl::string_view bytes) const {
  Sha256 hash;
  std::array<char, sizeof(uint64_t)> projector{};
  std::memcpy(projector.data(), &facts_.fingerprint, projector.size());
  hash.Add({projector.data(), projector.size()});
  hash.Add(bytes);
  uint64_t fingerprint = 0;
  std::memcpy(&fingerprint, hash.Finish().data(), sizeof(fingerprint));
  return fingerprint == 0 ? 1 : fingerprint;
}

uint64_t MediaEncoder::row_bytes() const { return uint64_t{model_.row_width()} * sizeof(float); }

absl::Status MediaEncoder::CheckLimits(const Chunks& chunks) const {
  const uint64_t context = model_.context_tokens();
  if (chunks.Tokens() > context) {
    return absl::InvalidArgumentError(absl::StrCat(
        chunks.Tokens(), " tokens stand for the image, and the context has ", context));
  }
  const uint64_t at_once = llama_n_ubatch(model_.context());
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (chunks.IsText(i) || !mtmd_decode_use_non_causal(context_, chunks[i])) continue;
    if (chunks.Tokens(i) <= at_once) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        chunks.Tokens(i), " tokens of the image must be computed at once; the option ubatch is ",
        at_once));
  }
  return absl::OkStatus();
}

absl::StatusOr<MediaEncoder::Chunks> MediaEncoder::Prepare(ImageSize size,
                                                           const unsigned char* pixels) {
  const Bitmap bitmap(mtmd_bitmap_init(size.width, size.height, pixels));
  absl::StatusOr<Chunks> chunks = Chunks::Of(context_, model_.library(), bitmap.get());
  if (!chunks.ok()) return chunks.status();
  if (absl::Status status = CheckLimits(*chunks); !status.ok()) return status;
  return chunks;
}

absl::StatusOr<PreparedMedia> MediaEncoder::Prepare(const std::string& path,
                                                    const CallControl& control) {
  absl::StatusOr<std::string> bytes = ReadImageFile(path, control);
  if (!bytes.ok()) return bytes.status();
  const absl::StatusOr<MediaInfo> info = Probe(*bytes);
  if (!info.ok()) return info.status();
  return PreparedMedia{*info, *std::move(bytes), info->n_tokens * row_bytes()};
}

absl::StatusOr<MediaItemRef> MediaEncoder::Encode(const PreparedMedia& media,
                                                  const CallControl& control) {
  return Encode(media.bytes, media.info.preprocess_fp, control);
}

absl::StatusOr<MediaInfo> MediaEncoder::Probe(absl::string_view bytes) {
  const absl::StatusOr<ImageSize> size = SizeOfImage(bytes);
  if (!size.ok()) return size.status();
  return Guarded<MediaInfo>([&]() -> absl::StatusOr<MediaInfo> {
    const absl::StatusOr<Chunks> chunks = Prepare(*size, nullptr);
    if (!chunks.ok()) return chunks.status();
    MediaInfo info;
    info.n_tokens = static_cast<uint32_t>(chunks->Tokens());
    info.image_token = image_token_;
    info.boi_token = chunks->before().value_or(image_token_);
    info.eoi_token = chunks->after().value_or(image_token_);
    info.preprocess_fp = Fingerprint(bytes);
    return info;
  });
}

absl::StatusOr<MediaItemRef> MediaEncoder::Encode(absl::string_view bytes, uint64_t fingerprint,
                                                  const CallControl& control) {
  const absl::StatusOr<Image> image = DecodeImage(bytes);
  if (!image.ok()) return image.status();
  return Guarded<MediaItemRef>([&]() -> absl::StatusOr<MediaItemRef> {
    const absl::StatusOr<Chunks> chunks = Prepare(image->size, image->rgb.data());
    if (!chunks.ok()) return chunks.status();
    return EncodeChunks(*chunks, fingerprint, control);
  });
}

absl::StatusOr<MediaItemRef> MediaEncoder::EncodeChunks(const Chunks& chunks, uint64_t fingerprint,
                                                        const CallControl& control) {
  auto item = std::make_shared<MediaItem>();
  item->fingerprint = fingerprint;
  item->parts.reserve(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (absl::Status status = control.GoOn(); !status.ok()) return status;
    absl::StatusOr<MediaPart> part = EncodePart(chunks, i, control);
    if (!part.ok()) return part.status();
    part->start = item->tokens;
    item->tokens += part->count;
    item->parts.push_back(*std::move(part));
  }
  return item;
}

absl::StatusOr<MediaPart> MediaEncoder::EncodePart(const Chunks& chunks, size_t index,
                                                   const CallControl& control) {
  MediaPart part;
  const mtmd_input_chunk* chunk = chunks[index];
  part.count = chunks.Tokens(index);
  if (chunks.IsText(index)) {
    size_t count = 0;
    const llama_token* tokens = mtmd_input_chunk_get_tokens_text(chunk, &count);
    part.text.assign(tokens, tokens + count);
    return part;
  }
  (void)model_.library().TakeError();
  const EncodeHook::Use use(*hook_, control);
  const int32_t result = mtmd_encode_chunk(context_, chunk);
  // Cut short, the library says that all is well.
  if (control.token().cancelled()) return absl::CancelledError("cancelled while encoding");
  if (result != 0) {
    return absl::InternalError(
        absl::StrCat("the image cannot be encoded: ", model_.library().TakeError()));
  }
  const float* rows = mtmd_get_output_embd(context_);
  part.rows.assign(rows, rows + part.count * model_.row_width());
  part.non_causal = mtmd_decode_use_non_causal(context_, chunk);
  // In the library's cache they would reach every sequence.
  if (std::all_of(part.rows.begin(), part.rows.end(), [](float f) { return std::isfinite(f); })) {
    return part;
  }
  return absl::InternalError("what the projector computes are no numbers");
}

}  // namespace superfluid
