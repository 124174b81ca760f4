#ifndef SUPERFLUID_ENGINE_ABI_PLUGIN_GENERATION_H_
#define SUPERFLUID_ENGINE_ABI_PLUGIN_GENERATION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/abi/call_port.h"
#include "engine/abi/guarded_buffer.h"
#include "engine/abi/guarded_value.h"
#include "engine/abi/handle_ledger.h"
#include "engine/abi/plugin_call.h"
#include "engine/abi/plugin_handle.h"
#include "engine/abi/tick_frame.h"
#include "engine/abi/tick_port.h"
#include "engine/engine.h"
#include "engine/generation.h"

namespace superfluid {

// A plug-in's token generation. What the plug-in hands over is copied and checked; a call that
// breaks a rule of the C interface returns Internal with the rule. What the plug-in gets is checked
// as well: handles that it did not hand out or that were freed are NotFound, tokens outside the
// vocabulary InvalidArgument, and neither reaches it; in a tick they fail their lane only.
//
// Threads: the engine's; any other ends the process. Lifetime: within its PluginEngine's.
class PluginGeneration : public Generation {
 public:
  // Errors: the plug-in's; Internal if its state spaces or strategies break the rules.
  static absl::StatusOr<std::unique_ptr<PluginGeneration>> Create(PluginHandle plugin,
                                                                  const EngineInfo& info);

  std::vector<StateSpace> StateSpaces() const override { return spaces_; }
  std::vector<BuiltInStrategy> Strategies() const override { return built_in_; }

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

 private:
  // A call of a function in the table; it goes with the function's name, for messages.
  using Call = absl::FunctionRef<sfl_status(sfl_error*)>;
  using NumberCall = absl::FunctionRef<sfl_status(uint64_t*, sfl_error*)>;

  PluginGeneration(PluginHandle plugin, const EngineInfo& info);

  const sfl_engine_vtable& functions() const { return *plugin_.functions; }
  void CheckThread(const char* name) const { plugin_.thread->Check(name); }
  absl::Status InPlugin(absl::string_view name, Call call);
  // What a call with a control comes to: `status`, but for a cancel that nobody asked for.
  static absl::Status CheckCancelled(absl::string_view name, absl::Status status,
                                     const CallControl& control);
  // A call that hands out a handle of `ledger`.
  absl::StatusOr<uint64_t> Made(const std::string& name, HandleLedger& ledger, NumberCall call);
  // The same for a number, which `unset` would not be.
  absl::StatusOr<uint64_t> Number(const std::string& name, uint64_t unset, NumberCall call);
  absl::Status CheckTokens(absl::Span<const Token> tokens) const;
  absl::Status CheckSequenceAndTokens(SequenceHandle sequence,
                                      absl::Span<const Token> tokens) const;

  absl::Status DescribeSpaces();
  absl::Status DescribeStrategies();
  absl::Status CheckLane(const LaneWork& lane) const;
  absl::Status RunLanes(const Tick& tick, const std::vector<size_t>& lanes,
                        const CancelToken& token, TickHost& host);
  absl::Status TakeResults(const Tick& tick, const std::vector<size_t>& lanes,
                           const CancelToken& token, std::vector<LaneResult>& results);
  using GrammarFunction = sfl_status (*)(sfl_engine*, sfl_string, const sfl_call*, uint64_t*,
                                         sfl_error*);
  absl::StatusOr<GrammarHandle> MakeGrammar(const std::string& name, absl::string_view text,
                                            GrammarFunction function, const CallControl& control);
  absl::StatusOr<MediaInfo> TakeMediaInfo(const std::string& name,
                                          const GuardedValue<sfl_media_info>& info) const;
  // Null if the hidden state did not fit; `room` is then what it needs.
  absl::StatusOr<std::optional<StageOutput>> TryStage(const sfl_stage& stage,
                                                      const CallControl& control, size_t& room);
  absl::StatusOr<std::optional<std::vector<float>>> TryEmbed(absl::Span<const Token> tokens,
                                                             const CallControl& control,
                                                             size_t& room);

  const PluginHandle plugin_;
  const uint32_t vocab_size_;
  const int max_lanes_;
  std::vector<StateSpace> spaces_;
  std::vector<BuiltInStrategy> built_in_;
  ErrorBuffer error_;
  HandleLedger sequences_{"sequence"};
  HandleLedger seeds_{"lease"};  // all of them gone at once: they may expire unseen
  HandleLedger grammars_{"grammar"};
  HandleLedger biases_{"logit bias"};
  HandleLedger media_{"medium"};
  HandleLedger strategies_{"strategy"};  // registered ones
  TickFrame frame_;
  RegisteredTickPort tick_port_;
  RegisteredCallPort call_port_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_PLUGIN_GENERATION_H_
