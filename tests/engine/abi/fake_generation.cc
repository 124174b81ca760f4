#include "tests/engine/abi/fake_generation.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/cancel_token.h"

namespace superfluid::testing {
namespace {

template <typename T>
std::string Numbers(const T& values) {
  return absl::StrCat("[", absl::StrJoin(values, ","), "]");
}

std::string Hex(const Digest& digest) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

template <typename Enum>
uint64_t Id(Enum handle) {
  return static_cast<uint64_t>(handle);
}

std::string Describe(TokenRange range) { return absl::StrCat(range.start, "-", range.end); }

class FakeStateJob : public StateJob {
 public:
  explicit FakeStateJob(FakeScript& script) : script_(script) { ++script_.jobs; }
  FakeStateJob(const FakeStateJob&) = delete;
  FakeStateJob& operator=(const FakeStateJob&) = delete;
  ~FakeStateJob() override { --script_.jobs; }

  absl::StatusOr<StateJobOutcome> Step(const StepBudget& budget,
                                       const CancelToken& token) override {
    script_.calls.push_back(absl::StrCat("step ", absl::ToInt64Microseconds(budget.target)));
    return script_.step(token);
  }
  uint64_t bytes_moved() const override { return script_.bytes_moved; }

 private:
  FakeScript& script_;
};

class FakeGeneration : public Generation {
 public:
  explicit FakeGeneration(FakeScript& script) : script_(script) {}

  std::vector<StateSpace> StateSpaces() const override { return script_.spaces; }
  std::vector<BuiltInStrategy> Strategies() const override { return script_.strategies; }

  absl::StatusOr<std::vector<LaneResult>> RunTick(const Tick& tick, const CancelToken& token,
                                                  TickHost& host) override {
    std::vector<std::string> lanes;
    for (const LaneWork& lane : tick.lanes) lanes.push_back(testing::Describe(lane));
    const absl::Status status = Called("tick ", tick.tick_id, tick.partial_emits ? " emits" : "",
                                       " ", absl::StrJoin(lanes, " | "));
    if (!status.ok()) return status;
    return script_.tick(tick, token, host);
  }

  absl::StatusOr<SequenceHandle> CreateSequence() override {
    return Made<SequenceHandle>("create");
  }
  absl::Status FreeSequence(SequenceHandle sequence) override {
    return Called("free ", Id(sequence));
  }
  absl::StatusOr<SequenceHandle> Fork(SequenceHandle parent, uint32_t flags) override {
    return Made<SequenceHandle>("fork ", Id(parent), " ", flags);
  }
  absl::Status Trim(SequenceHandle sequence, SpaceId space, uint64_t new_len) override {
    return Called("trim ", Id(sequence), " ", Id(space), " ", new_len);
  }
  absl::StatusOr<SequenceHandle> LaneSequence(LaneTag tag) override {
    if (absl::Status status = Called("lane_sequence ", Id(tag)); !status.ok()) return status;
    return SequenceHandle{script_.next_handle - 1};
  }

  absl::StatusOr<uint64_t> SnapshotBoundary(SequenceHandle sequence, SpaceId space,
                                            uint64_t cap) override {
    absl::Status status = Called("boundary ", Id(sequence), " ", Id(space), " ", cap);
    if (!status.ok()) return status;
    return cap - 1;
  }
  absl::StatusOr<ExportSize> SizeOfExport(SequenceHandle sequence, SpaceId space, TokenRange range,
                                          uint32_t encoding) override {
    absl::Status status =
        Called("size ", Id(sequence), " ", Id(space), " ", Describe(range), " ", encoding);
    if (!status.ok()) return status;
    return ExportSize{12345, 678};
  }
  absl::StatusOr<Digest> Provenance(SequenceHandle sequence, SpaceId space,
                                    TokenRange range) override {
    absl::Status status = Called("provenance ", Id(sequence), " ", Id(space), " ", Describe(range));
    if (!status.ok()) return status;
    return DigestOf(9, 8);
  }
  absl::StatusOr<std::unique_ptr<StateJob>> StartExport(const StateExport& what,
                                                        absl::Span<std::byte> out) override {
    absl::Status status =
        Called("export ", Id(what.sequence), " ", Id(what.space), " ", Describe(what.range), " ",
               what.encoding, what.free_device_copy ? " free" : "", " ", out.size());
    if (!status.ok()) return status;
    script_.out = out;
    return std::make_unique<FakeStateJob>(script_);
  }
  absl::StatusOr<std::unique_ptr<StateJob>> StartImport(
      const StateImport& what, absl::Span<const std::byte> bytes) override {
    absl::Status status =
        Called("import ", Id(what.sequence), " ", Id(what.space), " ", Describe(what.range), " ",
               what.encoding, " ", Hex(what.provenance), what.replace ? " replace" : "", " ",
               bytes.size());
    if (!status.ok()) return status;
    script_.in = bytes;
    return std::make_unique<FakeStateJob>(script_);
  }

  absl::StatusOr<std::vector<SpaceMatch>> Match(absl::Span<const Token> tokens,
                                                absl::Span<const uint64_t> media_deps) override {
    absl::Status status = Called("match ", Numbers(tokens), " ", Numbers(media_deps));
    if (!status.ok()) return status;
    return script_.matches;
  }
  absl::StatusOr<Lease> AcquireSeed(absl::Span<const Token> tokens, uint64_t prefix_len,
                                    uint32_t determinism_class,
                                    absl::Span<const uint64_t> media_deps) override {
    const auto seed = Made<SeedHandle>("acquire ", Numbers(tokens), " ", prefix_len, " ",
                                       determinism_class, " ", Numbers(media_deps));
    if (!seed.ok()) return seed.status();
    return Lease{*seed, 1000, 50};
  }
  absl::Status ReleaseSeed(SeedHandle seed) override { return Called("release ", Id(seed)); }
  absl::Status PublishSequence(SequenceHandle sequence, absl::Span<const Token> tokens,
                               const CallControl& control) override {
    if (script_.in_call) script_.in_call(control);
    return Called("publish ", Id(sequence), " ", Numbers(tokens));
  }
  absl::StatusOr<SeedHandle> AdoptSequence(SequenceHandle sequence, absl::Span<const Token> tokens,
                                           const CallControl& control) override {
    if (script_.in_call) script_.in_call(control);
    return Made<SeedHandle>("adopt ", Id(sequence), " ", Numbers(tokens));
  }
  absl::Status Unpublish(absl::Span<const Token> tokens) override {
    return Called("unpublish ", Numbers(tokens));
  }
  absl::StatusOr<uint64_t> EvictCache(uint64_t target, const EvictPolicy& policy) override {
    absl::Status status = Called("evict ", target, " ", policy.classes, " ", policy.protected_bytes,
                                 " ", policy.max_bytes);
    if (!status.ok()) return status;
    return target + 1;
  }
  absl::Status EvictEntries(absl::Span<const CacheKey> keys) override {
    std::string text;
    for (const CacheKey& key : keys) {
      absl::StrAppend(&text, " ", Hex(key.compat_key), "/", Hex(key.provenance));
    }
    return Called("evict_entries", text);
  }

  absl::StatusOr<GrammarHandle> CreateGrammar(absl::string_view json_schema,
                                              const CallControl& control) override {
    if (script_.in_call) script_.in_call(control);
    return Made<GrammarHandle>("grammar ", json_schema);
  }
  absl::StatusOr<GrammarHandle> CreateStructuralGrammar(absl::string_view tag_json,
                                                        const CallControl& control) override {
    if (script_.in_call) script_.in_call(control);
    return Made<GrammarHandle>("structural ", tag_json);
  }
  absl::Status FreeGrammar(GrammarHandle grammar) override {
    return Called("free_grammar ", Id(grammar));
  }
  absl::StatusOr<LogitBiasHandle> CreateLogitBias(absl::Span<const Token> tokens,
                                                  absl::Span<const float> values) override {
    return Made<LogitBiasHandle>("bias ", Numbers(tokens), " ", Numbers(values));
  }
  absl::Status FreeLogitBias(LogitBiasHandle bias) override {
    return Called("free_bias ", Id(bias));
  }

  absl::StatusOr<std::vector<float>> Embed(absl::Span<const Token> tokens,
                                           const CallControl& control) override {
    if (script_.in_call) script_.in_call(control);
    if (absl::Status status = Called("embed ", Numbers(tokens)); !status.ok()) return status;
    return script_.embedding;
  }
  absl::StatusOr<StageOutput> ForwardStage(const StageWork& work,
                                           const CallControl& control) override {
    if (script_.in_call) script_.in_call(control);
    absl::Status status =
        Called("stage ", Numbers(work.tokens), " ", work.start_layer, "-", work.end_layer, " ",
               work.has_hidden ? absl::StrCat("hidden ", work.hidden) : "first");
    if (!status.ok()) return status;
    return script_.stage;
  }

  absl::StatusOr<AdapterId> LoadAdapter(const std::string& path,
                                        const CallControl& control) override {
    if (script_.in_call) script_.in_call(control);
    return Made<AdapterId>("load_adapter ", path);
  }
  absl::Status UnloadAdapter() override { return Called("unload_adapter"); }
  absl::StatusOr<AdapterId> CurrentAdapter() override {
    if (absl::Status status = Called("current_adapter"); !status.ok()) return status;
    return AdapterId{0};
  }

  absl::StatusOr<MediaInfo> ProbeMedia(const std::string& path,
                                       const CallControl& control) override {
    if (script_.in_call) script_.in_call(control);
    if (absl::Status status = Called("probe ", path); !status.ok()) return status;
    return MediaInfo{5, 1, 2, 3, 4};
  }
  absl::StatusOr<EncodedMedia> EncodeMedia(const std::string& path,
                                           const CallControl& control) override {
    if (script_.in_call) script_.in_call(control);
    const auto handle = Made<MediaHandle>("encode ", path);
    if (!handle.ok()) return handle.status();
    return EncodedMedia{*handle, {50, 10, 20, 30, 40}};
  }
  absl::Status ReleaseMedia(MediaHandle media) override {
    return Called("release_media ", Id(media));
  }
  absl::Status BindMedia(LaneTag tag, MediaHandle media, uint64_t token_offset) override {
    return Called("bind ", Id(tag), " ", Id(media), " ", token_offset);
  }

  absl::StatusOr<StrategyTerms> RegisterStrategy(const StrategySpec& strategy) override {
    absl::Status status = Called("register ", testing::Describe(strategy));
    if (!status.ok()) return status;
    return script_.terms;
  }

  void EndSession() override { (void)Called("end"); }

 private:
  template <typename... Parts>
  absl::Status Called(const Parts&... parts) {
    script_.calls.push_back(absl::StrCat(parts...));
    if (script_.thrower) script_.thrower();
    return script_.failure;
  }

  template <typename Handle, typename... Parts>
  absl::StatusOr<Handle> Made(const Parts&... parts) {
    if (absl::Status status = Called(parts...); !status.ok()) return status;
    return Handle{script_.next_handle++};
  }

  FakeScript& script_;
};

}  // namespace

std::unique_ptr<Generation> MakeFakeGeneration(FakeScript& script) {
  return std::make_unique<FakeGeneration>(script);
}

std::string Describe(const LaneWork& lane) {
  const SamplingParams& sampling = lane.sampling;
  return absl::StrCat("tag ", Id(lane.tag), " seq ", Id(lane.sequence), " kind ",
                      static_cast<int>(lane.kind), " in ", Numbers(lane.input), " max ",
                      lane.max_tokens, " t ", sampling.temperature, " k ", sampling.top_k, " p ",
                      sampling.top_p, " m ", sampling.min_p, " r ", sampling.repetition_penalty,
                      " s ", sampling.seed, " g ", Id(lane.grammar), " b ", Id(lane.logit_bias),
                      " stop ", Numbers(lane.stop_tokens), " slot ", Id(lane.strategy), " drafts ",
                      Numbers(lane.drafts), lane.want_logits ? " logits" : "");
}

std::string Describe(const LaneResult& result) {
  std::string logits;
  for (const TokenLogit& logit : result.logits) {
    absl::StrAppend(&logits, " ", logit.token, ":", logit.logit);
  }
  return absl::StrCat(result.status.ToString(), " ", Numbers(result.tokens), logits, " finish ",
                      static_cast<int>(result.finish), " seq ", Id(result.sequence), " at ",
                      result.position, " accepted ", result.accepted_drafts);
}

std::string Describe(const StateSpace& space) {
  return absl::StrCat(Id(space.id), " ", space.name, " ", space.bytes_per_token, " ",
                      space.boundary_tokens, " ", space.encodings, " ", Hex(space.compat_key));
}

std::string Describe(const StrategySpec& strategy) {
  std::string text = absl::StrCat(strategy.strategy_id, " ", strategy.impl_version, " ",
                                  Hex(strategy.impl_hash), " ", Hex(strategy.config_hash), " ",
                                  strategy.kernel_caps_required, " ", strategy.est_state_bytes, " ",
                                  strategy.claimed_exactness, " ", strategy.rng_contract_version,
                                  " [", absl::StrJoin(strategy.target_archs, ","), "]");
  for (const StrategyArtifact& artifact : strategy.artifacts) {
    absl::StrAppend(&text, " artifact ", artifact.role, " ", Hex(artifact.content_hash), " ",
                    artifact.byte_size, " ", artifact.path);
  }
  for (const StrategyTap& tap : strategy.taps) {
    absl::StrAppend(&text, " tap ", tap.layer, " ", tap.tensor, " ", tap.dtype, " ", tap.layout);
  }
  for (const StrategyRequirement& requirement : strategy.requirements) {
    absl::StrAppend(&text, " needs ", requirement.kind_id, Numbers(requirement.params));
  }
  return text;
}

std::string Describe(const StrategyTerms& terms) {
  std::string text = absl::StrCat("slot ", Id(terms.slot), " reserved ", terms.reserved_bytes);
  for (const StrategyCertificate& certificate : terms.certificates) {
    absl::StrAppend(&text, " cert ", certificate.cert_id, " ", certificate.exactness, " ",
                    certificate.sampling_modes, " ", certificate.param_domain,
                    certificate.grammar_allowed ? " grammar" : "",
                    certificate.logit_bias_allowed ? " bias" : "", " ",
                    certificate.verification_shape_class);
    for (const Digest& identity : certificate.admissible_host_identities) {
      absl::StrAppend(&text, " ", Hex(identity));
    }
  }
  for (const StateSpace& space : terms.state_spaces) {
    absl::StrAppend(&text, " space ", Describe(space));
  }
  return text;
}

Digest DigestOf(uint8_t first, uint8_t rest) {
  Digest digest{};
  digest.fill(rest);
  digest[0] = first;
  return digest;
}

}  // namespace superfluid::testing
