#ifndef SUPERFLUID_ENGINE_GENERATION_SESSION_GENERATION_H_
#define SUPERFLUID_ENGINE_GENERATION_SESSION_GENERATION_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/generation.h"
#include "engine/generation/session.h"
#include "engine/generation/token_model.h"

namespace superfluid {

// Token generation over any TokenModel: the rules of every call are here and in the units beside
// it, the numbers are the model's. Calls are checked in this order: what they name exists, what
// they ask for is well formed, the state is there, the adapter is the right one, the model has
// room.
//
// Determinism classes of AcquireSeed: up to TokenModel::Facts::best_determinism; others are not
// found.
//
// Threads: one.
class SessionGeneration : public Generation {
 public:
  explicit SessionGeneration(std::unique_ptr<TokenModel> model);

  std::vector<StateSpace> StateSpaces() const override;
  std::vector<BuiltInStrategy> Strategies() const override;

  absl::StatusOr<std::vector<LaneResult>> RunTick(const Tick& tick, const CancelToken& token,
                                                  TickHost& host) override;

  absl::StatusOr<SequenceHandle> CreateSequence() override;
  absl::Status FreeSequence(SequenceHandle sequence) override;
  absl::StatusOr<SequenceHandle> Fork(SequenceHandle parent, uint32_t flags) override;
  absl::Status Trim(SequenceHandle sequence, SpaceId space, uint64_t new_len) override;
  absl::StatusOr<SequenceHandle> LaneSequence(LaneTag tag) override;

  absl::StatusOr<uint64_t> SnapshotBoundary(SequenceHandle sequence, SpaceId space,
                                            uint64_t cap) override;
  absl::StatusOr<ExportSize> SizeOfExport(SequenceHandle sequence, SpaceId space, TokenRange range,
                                          uint32_t encoding) override;
  absl::StatusOr<Digest> Provenance(SequenceHandle sequence, SpaceId space,
                                    TokenRange range) override;
  absl::StatusOr<std::unique_ptr<StateJob>> StartExport(const StateExport& what,
                                                        absl::Span<std::byte> out) override;
  absl::StatusOr<std::unique_ptr<StateJob>> StartImport(const StateImport& what,
                                                        absl::Span<const std::byte> bytes) override;

  absl::StatusOr<std::vector<SpaceMatch>> Match(absl::Span<const Token> tokens,
                                                absl::Span<const uint64_t> media_deps) override;
  absl::StatusOr<Lease> AcquireSeed(absl::Span<const Token> tokens, uint64_t prefix_len,
                                    uint32_t determinism_class,
                                    absl::Span<const uint64_t> media_deps) override;
  absl::Status ReleaseSeed(SeedHandle seed) override;
  absl::Status PublishSequence(SequenceHandle sequence, absl::Span<const Token> tokens,
                               const CallControl& control) override;
  absl::StatusOr<SeedHandle> AdoptSequence(SequenceHandle sequence, absl::Span<const Token> tokens,
                                           const CallControl& control) override;
  absl::Status Unpublish(absl::Span<const Token> tokens) override;
  absl::StatusOr<uint64_t> EvictCache(uint64_t target, const EvictPolicy& policy) override;
  absl::Status EvictEntries(absl::Span<const CacheKey> keys) override;

  absl::StatusOr<GrammarHandle> CreateGrammar(absl::string_view json_schema,
                                              const CallControl& control) override;
  absl::StatusOr<GrammarHandle> CreateStructuralGrammar(absl::string_view tag_json,
                                                        const CallControl& control) override;
  absl::Status FreeGrammar(GrammarHandle grammar) override;
  absl::StatusOr<LogitBiasHandle> CreateLogitBias(absl::Span<const Token> tokens,
                                                  absl::Span<const float> values) override;
  absl::Status FreeLogitBias(LogitBiasHandle bias) override;

  absl::StatusOr<std::vector<float>> Embed(absl::Span<const Token> tokens,
                                           const CallControl& control) override;
  absl::StatusOr<StageOutput> ForwardStage(const StageWork& work,
                                           const CallControl& control) override;

  absl::StatusOr<AdapterId> LoadAdapter(const std::string& path,
                                        const CallControl& control) override;
  absl::Status UnloadAdapter() override;
  absl::StatusOr<AdapterId> CurrentAdapter() override;

  absl::StatusOr<MediaInfo> ProbeMedia(const std::string& path,
                                       const CallControl& control) override;
  absl::StatusOr<EncodedMedia> EncodeMedia(const std::string& path,
                                           const CallControl& control) override;
  absl::Status ReleaseMedia(MediaHandle media) override;
  absl::Status BindMedia(LaneTag tag, MediaHandle media, uint64_t token_offset) override;

  absl::StatusOr<StrategyTerms> RegisterStrategy(const StrategySpec& strategy) override;

  void EndSession() override;

  // After EndSession: the cache and the adapter.
  void Reset();
  // Ends leases that are over, too.
  MemoryCounters Memory();
  // The names of what is served, for the engine's capabilities.
  std::vector<std::string> Calls() const;
  // What must hold between any two calls. For tests.
  bool CheckInvariants() const;

 protected:
  TokenModel& model() { return *model_; }
  const TokenModel& model() const { return *model_; }
  const Session& session() const { return session_; }

 private:
  absl::StatusOr<SessionSequence*> FindState(SequenceHandle sequence, SpaceId space) const;
  absl::StatusOr<CacheNode> Publish(SequenceHandle sequence, absl::Span<const Token> tokens,
                                    const CallControl& control);
  absl::StatusOr<CacheNode> PublishBlocks(SessionSequence& sequence, uint64_t tokens);
  absl::Status CheckRestore(const SessionSequence& sequence, const StateImport& what) const;
  absl::Status CheckEncoding(SpaceId space, uint32_t encoding) const;

  const std::unique_ptr<TokenModel> model_;
  Session session_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_SESSION_GENERATION_H_
