#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_TOKEN_MODEL_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_TOKEN_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/generation/token_model.h"
#include "engine/llama/llama_adapter.h"
#include "engine/llama/llama_decoder.h"
#include "engine/llama/llama_kv.h"
#include "engine/llama/llama_model.h"
#include "engine/llama/llama_options.h"
#include "engine/llama/llama_sequence.h"
#include "engine/llama/media_encoder.h"
#include "engine/llama/state_layout.h"

namespace superfluid {

inline constexpr char kLlamaPromptLookup[] = "llama.prompt_lookup";

// llama.cpp as a TokenModel: one context, whose cells all sequences share. Threads: one.
class LlamaTokenModel final : public TokenModel {
 public:
  // `media`: null without a projector.
  LlamaTokenModel(const LlamaOptions& options, std::unique_ptr<LlamaModel> loaded,
                  std::unique_ptr<MediaEncoder> media);

  // Computes a few tokens once, before anything else: warms the model up, learns how the library
  // writes state, and how long a small pass takes. Errors: Internal.
  absl::Status WarmUp();
  absl::Duration warm_pass_time() const { return warm_pass_time_; }  // of PassSize::kLeast tokens
  const MediaEncoder* encoder() const { return encoder_.get(); }     // null: none

  const Facts& facts() const override { return facts_; }
  TokenTexts Texts() const override;
  bool EndsText(Token token) const override { return model->EndsText(token); }
  std::unique_ptr<SessionSequence> NewSequence(AdapterRef adapter) override;

  size_t max_tokens() const override { return decoder_.max_tokens(); }
  size_t max_outputs() const override { return decoder_.max_outputs(); }
  absl::Status Decode(absl::Span<PassShare> shares, const CallControl& control) override;
  absl::Span<float> Logits(const PassShare& share, size_t i) override;
  absl::StatusOr<bool> Compute(SessionSequence& sequence, uint64_t end,
                               const CallControl& control) override;
  absl::Status BeginTick(uint64_t number) override;

  absl::StatusOr<std::vector<CachedBlockRef>> CacheBlocks(SessionSequence& sequence, uint64_t end,
                                                          const KnownBlocks& known) override;
  void UseCache(PrefixCache& cache) override;

  std::vector<StateSpace> Spaces() const override;
  bool CanExport() const override { return layout.known(); }
  uint64_t ExportBytes(const SessionSequence& sequence, SpaceId space, TokenRange range,
                       uint32_t encoding) const override;
  absl::StatusOr<std::unique_ptr<StateMover>> StartExport(SessionSequence& sequence,
                                                          const StateExport& what,
                                                          absl::Span<std::byte> out) override;
  absl::StatusOr<std::unique_ptr<StateMover>> StartImport(
      SessionSequence& sequence, const StateImport& what,
      absl::Span<const std::byte> bytes) override;

  // The mean of the last layer's states, not normalised.
  absl::StatusOr<std::vector<float>> Embed(absl::Span<const Token> tokens,
                                           const CallControl& control) override;
  absl::StatusOr<uint64_t> LoadAdapter(const std::string& path,
                                       const CallControl& control) override;
  void UnloadAdapter() override { adapter_.Unload(); }
  // Images, if there is a projector. While one is encoded nothing else happens. A missing begin or
  // end token is given as the image token.
  MediaModel* media() override { return encoder_.get(); }
  // A prompt lookup: "llama.prompt_lookup:n=3,drafts=4".
  absl::StatusOr<std::unique_ptr<Drafter>> MakeDrafter(const StrategyId& id) override;
  MemoryCounters Memory() const override;

  // ---- What movers of state use

  const std::unique_ptr<LlamaModel> model;
  KvCells cells;
  KvSequences kv;
  StateLayout layout;             // see WarmUp; without known() there are no state ops
  uint64_t tentative_tokens = 0;  // of imports that have not taken effect

 private:
  // Computes `count` more tokens of it, whatever they are.
  absl::Status AddBlank(LlamaSequence& sequence, uint64_t count);
  // Clears the library's cells if something that is no number was computed, and nobody has any.
  void ClearSpoiltCells();

  Facts facts_;
  absl::Duration warm_pass_time_;
  LlamaDecoder decoder_;
  LlamaAdapter adapter_;
  const std::unique_ptr<MediaEncoder> encoder_;
  // Something that is no number was computed: the library's cells may hold it, which reaches every
  // sequence (see StateLayout), even after they are free.
  bool cells_spoilt_ = false;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_TOKEN_MODEL_H_
