// The prefix cache: what is in it, and the leases on it.

#include <set>

#include "absl/strings/str_cat.h"
#include "engine/generation/session_generation.h"

namespace superfluid {
namespace {

absl::Span<const Token> WholeBlocks(absl::Span<const Token> tokens) {
  return tokens.first(tokens.size() - tokens.size() % kCacheBlockTokens);
}

}  // namespace

absl::StatusOr<std::vector<SpaceMatch>> SessionGeneration::Match(
    absl::Span<const Token> tokens, absl::Span<const uint64_t> media_deps) {
  session_.ExpireLeases();
  const CacheNode node =
      session_.cache.FindByDeps(tokens, media_deps, session_.adapter.fingerprint);
  std::vector<SpaceMatch> matches;
  for (const StateSpace& space : model_->Spaces()) {
    matches.push_back({space.id, session_.cache.EndOf(node)});
  }
  return matches;
}

absl::StatusOr<Lease> SessionGeneration::AcquireSeed(absl::Span<const Token> tokens,
                                                     uint64_t prefix_len,
                                                     uint32_t determinism_class,
                                                     absl::Span<const uint64_t> media_deps) {
  session_.ExpireLeases();
  if (prefix_len == 0 || prefix_len > tokens.size()) {
    return absl::InvalidArgumentError("the prefix is empty or longer than the tokens");
  }
  if (determinism_class > session_.facts.best_determinism) {
    return absl::NotFoundError(
        absl::StrCat("nothing is cached of determinism class ", determinism_class));
  }
  const CacheNode node =
      session_.cache.FindByDeps(tokens.first(prefix_len), media_deps, session_.adapter.fingerprint);
  const uint64_t cached = session_.cache.EndOf(node);
  if (cached != prefix_len) {
    return absl::NotFoundError(absl::StrCat("cached are ", cached, " tokens of these"));
  }
  return session_.leases.Acquire(node, session_.Now());
}

absl::Status SessionGeneration::ReleaseSeed(SeedHandle seed) {
  session_.ExpireLeases();
  return session_.leases.Release(seed);
}

absl::StatusOr<CacheNode> SessionGeneration::Publish(SequenceHandle sequence,
                                                     absl::Span<const Token> tokens,
                                                     const CallControl& control) {
  session_.ExpireLeases();
  const absl::StatusOr<SessionSequence*> found = session_.sequences.Find(sequence);
  if (!found.ok()) return found.status();
  SessionSequence& published = **found;
  if (tokens.size() > published.length() || tokens != published.tokens().first(tokens.size())) {
    return absl::InvalidArgumentError("the tokens are not the sequence's first ones");
  }
  const uint64_t whole = WholeBlocks(tokens).size();
  if (whole == 0) {
    return absl::InvalidArgumentError(absl::StrCat("a block has ", kCacheBlockTokens, " tokens"));
  }
  if (published.IsMissing({0, whole})) return PartIsMissing();
  for (absl::StatusOr<bool> done = false; !*done;) {
    done = session_.ComputeSome(published, whole, control);
    if (!done.ok()) return done.status();
  }
  return PublishBlocks(published, whole);
}

absl::StatusOr<CacheNode> SessionGeneration::PublishBlocks(SessionSequence& sequence,
                                                           uint64_t tokens) {
  PrefixCache& cache = session_.cache;
  const PrefixCache::Prefix prefix{sequence.tokens().first(tokens), &sequence.media().marks(),
                                   sequence.adapter().fingerprint};
  if (cache.EndOf(cache.Find(prefix)) == tokens) {
    return cache.Insert(prefix, std::vector<CachedBlockRef>(tokens / kCacheBlockTokens));
  }
  const absl::StatusOr<std::vector<CachedBlockRef>> blocks = model_->CacheBlocks(
      sequence, tokens, [&cache, &prefix] { return cache.Use(cache.Find(prefix)); });
  if (!blocks.ok()) return blocks.status();
  return cache.Insert(prefix, *blocks);
}

absl::Status SessionGeneration::PublishSequence(SequenceHandle sequence,
                                                absl::Span<const Token> tokens,
                                                const CallControl& control) {
  return Publish(sequence, tokens, control).status();
}

absl::StatusOr<SeedHandle> SessionGeneration::AdoptSequence(SequenceHandle sequence,
                                                            absl::Span<const Token> tokens,
                                                            const CallControl& control) {
  const absl::StatusOr<CacheNode> node = Publish(sequence, tokens, control);
  if (!node.ok()) return node.status();
  const absl::StatusOr<Lease> lease = session_.leases.Acquire(*node, session_.Now());
  if (!lease.ok()) return lease.status();
  return lease->seed;
}

absl::Status SessionGeneration::Unpublish(absl::Span<const Token> tokens) {
  session_.ExpireLeases();
  const absl::Span<const Token> whole = WholeBlocks(tokens);
  const std::vector<CacheNode> nodes =
      whole.empty() ? std::vector<CacheNode>() : session_.cache.FindAll(whole);
  if (nodes.empty()) return absl::NotFoundError("these tokens are not cached");
  for (const CacheNode node : nodes) session_.cache.Forget(node);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SessionGeneration::EvictCache(uint64_t target, const EvictPolicy& policy) {
  session_.ExpireLeases();
  return session_.cache.Evict(target, policy);
}

absl::Status SessionGeneration::EvictEntries(absl::Span<const CacheKey> keys) {
  session_.ExpireLeases();
  std::set<Digest> provenances;
  for (const CacheKey& key : keys) {
    for (const StateSpace& space : StateSpaces()) {
      if (key.compat_key == space.compat_key) provenances.insert(key.provenance);
    }
  }
  session_.cache.ForgetByProvenance(provenances);
  return absl::OkStatus();
}

}  // namespace superfluid
