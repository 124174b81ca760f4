#ifndef SUPERFLUID_ENGINE_SIM_SIM_TOKEN_MODEL_H_
#define SUPERFLUID_ENGINE_SIM_SIM_TOKEN_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/generation/token_model.h"
#include "engine/sim/sim_blocks.h"
#include "engine/sim/sim_clock.h"
#include "engine/sim/sim_media.h"
#include "engine/sim/sim_options.h"
#include "engine/sim/sim_sequence.h"
#include "engine/sim/sim_stage.h"

namespace superfluid {

inline constexpr uint64_t kSimKernelCaps = 0xF;
inline constexpr size_t kSimMaxAdapterBytes = size_t{1} << 20U;

// A model whose next token is a deterministic function of a sequence's whole state, with the costs
// and the misbehaviour that the options ask for. An eager model: a token's state is computed when
// it is appended. An adapter is any file of 1 byte to kSimMaxAdapterBytes, whose content changes
// what is computed.
//
// A tick costs tick_us, and each lane's part of a pass token_us; it checks all drafts.
class SimTokenModel final : public TokenModel {
 public:
  SimTokenModel(const SimOptions& all_options, std::shared_ptr<SimClock> sim_clock);

  const Facts& facts() const override { return facts_; }
  TokenTexts Texts() const override;
  bool EndsText(Token token) const override;
  std::unique_ptr<SessionSequence> NewSequence(AdapterRef adapter) override;

  absl::Status Decode(absl::Span<PassShare> shares, const CallControl& control) override;
  absl::Span<float> Logits(const PassShare& share, size_t i) override;
  absl::StatusOr<bool> Compute(SessionSequence& sequence, uint64_t end,
                               const CallControl& control) override;
  // Internal, if asked for. Throws if asked to, before anything has changed.
  absl::Status BeginTick(uint64_t number) override;

  absl::StatusOr<std::vector<CachedBlockRef>> CacheBlocks(SessionSequence& sequence, uint64_t end,
                                                          const KnownBlocks& known) override;
  void UseCache(PrefixCache& cache) override;

  // The state spaces "kv" (0) and "recurrent" (1).
  std::vector<StateSpace> Spaces() const override;
  bool CanExport() const override { return true; }
  uint64_t ExportBytes(const SessionSequence& sequence, SpaceId space, TokenRange range,
                       uint32_t encoding) const override;
  absl::StatusOr<std::unique_ptr<StateMover>> StartExport(SessionSequence& sequence,
                                                          const StateExport& what,
                                                          absl::Span<std::byte> out) override;
  absl::StatusOr<std::unique_ptr<StateMover>> StartImport(
      SessionSequence& sequence, const StateImport& what,
      absl::Span<const std::byte> bytes) override;

  absl::StatusOr<std::vector<float>> Embed(absl::Span<const Token> tokens,
                                           const CallControl& control) override;
  absl::StatusOr<StageOutput> ForwardStage(const StageWork& work,
                                           const CallControl& control) override;
  absl::StatusOr<uint64_t> LoadAdapter(const std::string& path,
                                       const CallControl& control) override;
  void UnloadAdapter() override;
  MediaModel* media() override { return &media_; }
  absl::StatusOr<std::unique_ptr<Drafter>> MakeDrafter(const StrategyId& id) override;

  absl::Time Now() const override { return clock->Now(); }
  MemoryCounters Memory() const override;

  // The misbehaviour asked for of a tick or op, in this order: slow, stuck, throw, out of memory,
  // fail. `number`: which tick or op it is.
  struct Faults {
    SimStep slow_at = 0;
    SimStep stuck_at = 0;
    SimStep throw_at = 0;
    SimStep out_of_memory_at = 0;
    SimStep fail_at = 0;
  };
  absl::Status Misbehave(const Faults& faults, uint64_t number);

  const SimGenerationOptions options;
  const std::shared_ptr<SimClock> clock;
  SimBlockPool pool;
  uint64_t ops = 0;  // state jobs over the engine's life

 private:
  // Computes as the options say that a call does. Cancelled: the control's token is set.
  absl::Status ComputeCall(const CallControl& control);
  SimPass Pass() const;

  const absl::Duration slow_;
  const absl::Duration stuck_;
  Facts facts_;
  SimMedia media_;
  uint64_t calls_ = 0;    // over the engine's life
  uint64_t adapter_ = 0;  // fingerprint
  uint64_t adapter_bytes_ = 0;
  std::vector<float> logits_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_TOKEN_MODEL_H_
