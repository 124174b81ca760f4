#ifndef SUPERFLUID_ENGINE_GENERATION_H_
#define SUPERFLUID_ENGINE_GENERATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/call_control.h"
#include "engine/cancel_token.h"
#include "engine/handles.h"
#include "engine/state_job.h"
#include "engine/strategy.h"
#include "engine/tick.h"

namespace superfluid {

struct SpaceMatch {
  SpaceId space{};
  uint64_t matched_tokens = 0;
};

// A lease pins the blocks of a cached prefix until it is released, expires (whichever of the two
// limits comes first), or is adopted: a new sequence whose first input starts with exactly the
// leased prefix takes it over.
struct Lease {
  SeedHandle seed{};
  uint64_t ttl_ms = 0;
  uint64_t ttl_ticks = 0;
};

struct EvictPolicy {
  uint32_t classes = 0;          // bit n: entries of cache class n may go
  uint64_t protected_bytes = 0;  // keep at least so much of the cache
  uint64_t max_bytes = 0;        // free at most so much; 0: no limit
};

struct CacheKey {
  Digest compat_key{};
  Digest provenance{};
};

struct MediaInfo {
  uint32_t n_tokens = 0;  // that stand for it in a sequence
  uint32_t image_token = 0;
  uint32_t boi_token = 0;
  uint32_t eoi_token = 0;
  uint64_t preprocess_fp = 0;  // fingerprint of how it was prepared; part of cache keys
};

struct EncodedMedia {
  MediaHandle handle{};
  MediaInfo info;
};

// Layers [start_layer, end_layer) of a model whose layers are spread over workers.
struct StageWork {
  absl::Span<const Token> tokens;
  uint32_t start_layer = 0;
  uint32_t end_layer = 0;
  bool has_hidden = false;   // false for the first stage
  absl::string_view hidden;  // the previous stage's output, opaque
};
using StageOutput = std::variant<std::string, Token>;  // hidden state; of the last stage a token

// What an engine that generates tokens offers: ticks, sequences, their state, the prefix cache.
// Link W's sections 5 to 8 in C++.
//
// Threads, and how long a call may take: as Engine. A call with a CallControl may take longer: it
// calls the control between its parts, and ends with Cancelled, nothing half done, once the token
// is set. Every method has a default that says Unimplemented; an engine overrides what it has, and
// lists it in its capabilities.
//
// Common errors: NotFound (a handle that does not exist; the host finds most of them first),
// InvalidArgument, ResourceExhausted (no memory, too many of these), Unimplemented, Cancelled (of
// a call with a CallControl).
class Generation {
 public:
  virtual ~Generation() = default;

  // Constant over the engine's life.
  virtual std::vector<StateSpace> StateSpaces() const { return {}; }
  virtual std::vector<BuiltInStrategy> Strategies() const { return {}; }

  // ---- Ticks ----

  // Runs one tick: one result per lane, in order. Lanes do not see each other. Once `token` is set
  // the lanes that are not finished end with kStopped, as soon as the engine can. An error concerns
  // the tick as a whole, and then no sequence has changed.
  virtual absl::StatusOr<std::vector<LaneResult>> RunTick(const Tick& tick,
                                                          const CancelToken& token, TickHost& host);

  // ---- Sequences ----

  virtual absl::StatusOr<SequenceHandle> CreateSequence();
  virtual absl::Status FreeSequence(SequenceHandle sequence);
  // A new sequence with the parent's tokens and state. FailedPrecondition if part of the parent is
  // not on the device. No flags are defined: InvalidArgument for others than 0.
  virtual absl::StatusOr<SequenceHandle> Fork(SequenceHandle parent, uint32_t flags);
  // Cuts one space of the sequence to its first `new_len` tokens. All spaces must be cut to the
  // same length before the next tick. InvalidArgument: longer than it is, or not at a boundary.
  virtual absl::Status Trim(SequenceHandle sequence, SpaceId space, uint64_t new_len);
  // The sequence that the lane with this tag last worked on. NotFound.
  virtual absl::StatusOr<SequenceHandle> LaneSequence(LaneTag tag);

  // ---- State ----

  // The largest position, at most `cap`, at which an export of the sequence's state may end.
  virtual absl::StatusOr<uint64_t> SnapshotBoundary(SequenceHandle sequence, SpaceId space,
                                                    uint64_t cap);
  // InvalidArgument: an unknown encoding, a range beyond the sequence or not at boundaries.
  virtual absl::StatusOr<ExportSize> SizeOfExport(SequenceHandle sequence, SpaceId space,
                                                  TokenRange range, uint32_t encoding);
  // Identifies what the state of this range was computed from (tokens, adapter, media).
  virtual absl::StatusOr<Digest> Provenance(SequenceHandle sequence, SpaceId space,
                                            TokenRange range);
  // `out` has exactly the bytes of SizeOfExport and is shared with the daemon: write it, never read
  // it back.
  virtual absl::StatusOr<std::unique_ptr<StateJob>> StartExport(const StateExport& what,
                                                                absl::Span<std::byte> out);
  // `bytes` is private to the worker, and valid until the job is destroyed.
  virtual absl::StatusOr<std::unique_ptr<StateJob>> StartImport(const StateImport& what,
                                                                absl::Span<const std::byte> bytes);

  // ---- Prefix cache ----

  // The longest cached prefix of `tokens` in each space. `media_deps`: fingerprints of the media
  // that the tokens stand for; part of the key.
  virtual absl::StatusOr<std::vector<SpaceMatch>> Match(absl::Span<const Token> tokens,
                                                        absl::Span<const uint64_t> media_deps);
  // Leases the first `prefix_len` of `tokens`. NotFound: not cached that far, or not computed in a
  // way that satisfies the determinism class.
  virtual absl::StatusOr<Lease> AcquireSeed(absl::Span<const Token> tokens, uint64_t prefix_len,
                                            uint32_t determinism_class,
                                            absl::Span<const uint64_t> media_deps);
  virtual absl::Status ReleaseSeed(SeedHandle seed);
  // Puts the state of the sequence's first tokens, which `tokens` must equal, into the cache.
  // Whole blocks only; InvalidArgument if the tokens are not the sequence's, or not one block;
  // FailedPrecondition if part of the state is not on the device, or is not computed yet and the
  // adapter is another one now. After Cancelled nothing is published; the sequence has its tokens.
  virtual absl::Status PublishSequence(SequenceHandle sequence, absl::Span<const Token> tokens,
                                       const CallControl& control);
  // PublishSequence and AcquireSeed in one, so that nothing can evict the prefix in between.
  virtual absl::StatusOr<SeedHandle> AdoptSequence(SequenceHandle sequence,
                                                   absl::Span<const Token> tokens,
                                                   const CallControl& control);
  // Forgets the entry for exactly these tokens and all that extend it; leased ones go when their
  // leases end. NotFound.
  virtual absl::Status Unpublish(absl::Span<const Token> tokens);
  // Frees at least `target` bytes if the policy allows; returns how many. Leased entries stay.
  virtual absl::StatusOr<uint64_t> EvictCache(uint64_t target, const EvictPolicy& policy);
  // Entries that do not exist are ignored.
  virtual absl::Status EvictEntries(absl::Span<const CacheKey> keys);

  // ---- What steers sampling ----

  // Errors: InvalidArgument (no schema, or one that no value can match); Unimplemented, with the
  // name of a keyword that is not enforced. After Cancelled there is no new grammar.
  virtual absl::StatusOr<GrammarHandle> CreateGrammar(absl::string_view json_schema,
                                                      const CallControl& control);
  virtual absl::StatusOr<GrammarHandle> CreateStructuralGrammar(absl::string_view tag_json,
                                                                const CallControl& control);
  virtual absl::Status FreeGrammar(GrammarHandle grammar);
  // As many values as tokens; added to the logits.
  virtual absl::StatusOr<LogitBiasHandle> CreateLogitBias(absl::Span<const Token> tokens,
                                                          absl::Span<const float> values);
  virtual absl::Status FreeLogitBias(LogitBiasHandle bias);

  // ---- The model ----

  virtual absl::StatusOr<std::vector<float>> Embed(absl::Span<const Token> tokens,
                                                   const CallControl& control);
  virtual absl::StatusOr<StageOutput> ForwardStage(const StageWork& work,
                                                   const CallControl& control);

  // One adapter at most is loaded; loading another replaces it. Sequences made under another
  // adapter cannot be continued: FailedPrecondition in their lanes. `path` can be opened during the
  // call; it is not the name that the daemon used. After an error the adapter before stays.
  virtual absl::StatusOr<AdapterId> LoadAdapter(const std::string& path,
                                                const CallControl& control);
  virtual absl::Status UnloadAdapter();
  virtual absl::StatusOr<AdapterId> CurrentAdapter();

  virtual absl::StatusOr<MediaInfo> ProbeMedia(const std::string& path, const CallControl& control);
  virtual absl::StatusOr<EncodedMedia> EncodeMedia(const std::string& path,
                                                   const CallControl& control);
  virtual absl::Status ReleaseMedia(MediaHandle media);
  // The next tick's input of the lane has the media's tokens from `token_offset` (of that input)
  // on.
  virtual absl::Status BindMedia(LaneTag tag, MediaHandle media, uint64_t token_offset);

  // The artifacts' bytes have been compared with their hashes; their paths can be opened during the
  // call. FailedPrecondition: the engine does not meet what the strategy requires.
  virtual absl::StatusOr<StrategyTerms> RegisterStrategy(const StrategySpec& strategy);

  // The driver is gone: everything that it made goes (sequences, leases, grammars, biases, media,
  // its strategies); the published cache and the adapter stay. No job exists when it is called.
  virtual void EndSession() {}
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_H_
