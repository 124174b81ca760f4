#include "engine/cache/prefix_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/cache/prefix_leases.h"

namespace superfluid {
namespace {

constexpr EvictPolicy kAll{UINT32_MAX, 0, 0};

constexpr uint64_t kBlockBytes = 100;

// A block that is counted while it lives, and in use while the test has a reference, too.
class Block : public CachedBlock, public std::enable_shared_from_this<Block> {
 public:
  struct Counts {
    uint64_t live = 0;
  };
  explicit Block(Counts* counts) : counts_(counts) { ++counts_->live; }
  ~Block() override { --counts_->live; }
  bool InUse() const override { return weak_from_this().use_count() > 1; }

 private:
  Counts* const counts_;
};

class PrefixCacheTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(cache_.CheckInvariants()); }

  // Tokens whose blocks are the letters of `text`.
  static std::vector<Token> T(const std::string& text) {
    std::vector<Token> tokens;
    for (const char c : text) {
      for (Token i = 0; i < kCacheBlockTokens; ++i) tokens.push_back(static_cast<Token>(c) + i % 3);
    }
    return tokens;
  }
  CacheNode Insert(const std::string& text, uint64_t adapter = 0, const MediaMap& media = {}) {
    std::vector<CachedBlockRef> blocks;
    for (size_t i = 0; i < text.size(); ++i) blocks.push_back(std::make_shared<Block>(&used_));
    const auto tokens = T(text);
    return cache_.Insert({tokens, &media, adapter}, blocks);
  }
  uint64_t Found(const std::string& text, uint64_t adapter = 0, const MediaMap& media = {}) const {
    const auto tokens = T(text);
    return cache_.EndOf(cache_.Find({tokens, &media, adapter})) / kCacheBlockTokens;
  }
  uint64_t FoundByDeps(const std::string& text, const std::vector<uint64_t>& deps) const {
    return cache_.EndOf(cache_.FindByDeps(T(text), deps, 0)) / kCacheBlockTokens;
  }

  Block::Counts used_;
  PrefixCache cache_{kBlockBytes};
};

TEST_F(PrefixCacheTest, FindsTheLongestPrefix) {
  EXPECT_EQ(Found("abc"), 0U);
  Insert("abc");
  EXPECT_EQ(Found("abc"), 3U);
  EXPECT_EQ(Found("abx"), 2U);
  EXPECT_EQ(Found("abcd"), 3U);
  EXPECT_EQ(Found("b"), 0U);
  EXPECT_EQ(Found("abc", /*adapter=*/1), 0U);
  auto tokens = T("abc");
  tokens.pop_back();
  EXPECT_EQ(cache_.EndOf(cache_.Find({tokens, nullptr, 0})), 2 * kCacheBlockTokens);
}

TEST_F(PrefixCacheTest, InsertingAgainSharesWhatIsThere) {
  Insert("ab");
  EXPECT_EQ(used_.live, 2U);
  Insert("abc");
  EXPECT_EQ(used_.live, 3U);
  EXPECT_EQ(cache_.bytes(), 3 * kBlockBytes);
}

TEST_F(PrefixCacheTest, MediaArePartOfTheKey) {
  Insert("ab", 0, {{20, 7}, {21, 7}});
  EXPECT_EQ(Found("ab"), 1U);
  EXPECT_EQ(Found("ab", 0, {{20, 7}, {21, 7}}), 2U);
  EXPECT_EQ(Found("ab", 0, {{20, 8}, {21, 8}}), 1U);
  EXPECT_EQ(FoundByDeps("ab", {}), 1U);
  EXPECT_EQ(FoundByDeps("ab", {7}), 2U);
  EXPECT_EQ(FoundByDeps("ab", {7, 7}), 2U);
  EXPECT_EQ(FoundByDeps("ab", {8}), 0U);
  EXPECT_EQ(FoundByDeps("ab", {7, 8}), 0U);
  Insert("ab");
  EXPECT_EQ(FoundByDeps("ab", {}), 2U);
  EXPECT_EQ(FoundByDeps("ab", {7}), 2U);
  EXPECT_EQ(cache_.FindAll(T("ab")).size(), 2U);
}

TEST_F(PrefixCacheTest, EvictsTheLeastRecentlyUsedLeafFirst) {
  Insert("ab");
  Insert("ac");
  cache_.Use(cache_.Find({T("ab"), nullptr, 0}));
  EXPECT_TRUE(cache_.EvictOne());
  EXPECT_EQ(Found("ac"), 1U);
  EXPECT_EQ(Found("ab"), 2U);
  EXPECT_TRUE(cache_.EvictOne());
  EXPECT_EQ(Found("ab"), 1U);
  EXPECT_TRUE(cache_.EvictOne());
  EXPECT_FALSE(cache_.EvictOne());
  EXPECT_EQ(used_.live, 0U);
}

TEST_F(PrefixCacheTest, KeepsWhatIsPinnedOrUsed) {
  const CacheNode node = Insert("abc");
  Insert("abd");
  cache_.Pin(node);
  EXPECT_EQ(cache_.EvictableBytes(), kBlockBytes);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, kAll), kBlockBytes);
  EXPECT_EQ(Found("abc"), 3U);
  cache_.Unpin(node);
  const auto used = cache_.Use(cache_.Find({T("ab"), nullptr, 0}));
  EXPECT_EQ(cache_.EvictableBytes(), kBlockBytes);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, kAll), kBlockBytes);
  EXPECT_EQ(Found("abc"), 2U);
}

TEST_F(PrefixCacheTest, EvictionFollowsThePolicy) {
  Insert(std::string(20, 'a'));  // 16 blocks of class 0, four of class 1
  const uint64_t all = 20 * kBlockBytes;
  EXPECT_EQ(cache_.EvictableBytes(), all);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {0, 0, 0}), 0U);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {1, 0, 0}), 0U);  // class 1 lies before
  EXPECT_EQ(cache_.Evict(0, kAll), 0U);
  EXPECT_EQ(cache_.Evict(1, kAll), kBlockBytes);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {UINT32_MAX, 0, kBlockBytes + 1}), kBlockBytes);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {2, 0, 0}), 2 * kBlockBytes);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {UINT32_MAX, UINT64_MAX, 0}), 0U);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {UINT32_MAX, 10 * kBlockBytes, 0}), 6 * kBlockBytes);
  EXPECT_EQ(cache_.bytes(), 10 * kBlockBytes);
}

TEST_F(PrefixCacheTest, ForgetsWithAllThatExtendIt) {
  Insert("abc");
  Insert("abd");
  Insert("ax");
  cache_.Forget(cache_.Find({T("ab"), nullptr, 0}));
  EXPECT_EQ(Found("abc"), 1U);
  EXPECT_EQ(Found("ax"), 2U);
  EXPECT_EQ(used_.live, 2U);
}

TEST_F(PrefixCacheTest, ForgottenButPinnedStaysUntilUnpinned) {
  const CacheNode node = Insert("abc");
  cache_.Pin(node);
  cache_.Forget(cache_.Find({T("a"), nullptr, 0}));
  EXPECT_EQ(Found("abc"), 0U);
  EXPECT_EQ(used_.live, 3U);
  EXPECT_TRUE(cache_.IsPrefix(node, {T("abcd"), nullptr, 0}));
  EXPECT_FALSE(cache_.IsPrefix(node, {T("ab"), nullptr, 0}));
  EXPECT_FALSE(cache_.IsPrefix(node, {T("abd"), nullptr, 0}));
  EXPECT_EQ(cache_.Use(node).size(), 3U);
  Insert("ab");
  EXPECT_EQ(Found("abc"), 2U);
  cache_.Forget(cache_.Find({T("a"), nullptr, 0}));
  EXPECT_TRUE(cache_.CheckInvariants());
  cache_.Unpin(node);
  EXPECT_EQ(used_.live, 0U);
}

TEST_F(PrefixCacheTest, ForgetsByProvenance) {
  Insert("abc");
  TokenProvenance provenance(0);
  for (const Token token : T("ab")) provenance.Add(token, 0);
  cache_.ForgetByProvenance({Digest{}});
  EXPECT_EQ(Found("abc"), 3U);
  cache_.ForgetByProvenance({provenance.digest()});
  EXPECT_EQ(Found("abc"), 1U);
}

class SimLeasesTest : public PrefixCacheTest {
 protected:
  static PrefixLeases::Moment At(int64_t ms, uint64_t tick) {
    return {absl::UnixEpoch() + absl::Milliseconds(ms), tick};
  }
  HandleSource handles_;
  PrefixLeases leases_{cache_, handles_, {100, 5, 3}};
};

TEST_F(SimLeasesTest, EndByTimeOrTicks) {
  const auto first = leases_.Acquire(Insert("ab"), At(0, 0));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->ttl_ms, 100U);
  EXPECT_EQ(first->ttl_ticks, 5U);
  EXPECT_EQ(cache_.EvictableBytes(), 0U);
  leases_.Expire(At(99, 4));
  EXPECT_EQ(leases_.size(), 1U);
  leases_.Expire(At(100, 0));
  EXPECT_EQ(leases_.size(), 0U);
  ASSERT_TRUE(leases_.Acquire(Insert("ab"), At(0, 10)).ok());
  leases_.Expire(At(0, 15));
  EXPECT_EQ(leases_.size(), 0U);
  EXPECT_EQ(cache_.EvictableBytes(), 2 * kBlockBytes);
}

TEST_F(SimLeasesTest, AreReleasedOnceAndBounded) {
  const CacheNode node = Insert("a");
  const auto lease = leases_.Acquire(node, At(0, 0));
  ASSERT_TRUE(lease.ok());
  EXPECT_TRUE(leases_.Release(lease->seed).ok());
  EXPECT_TRUE(absl::IsNotFound(leases_.Release(lease->seed)));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(leases_.Acquire(node, At(0, 0)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(leases_.Acquire(node, At(0, 0)).status()));
  leases_.Clear();
  EXPECT_EQ(cache_.EvictableBytes(), kBlockBytes);
}

TEST_F(SimLeasesTest, TheLongestIsAdopted) {
  const CacheNode longer = Insert("ab");
  const CacheNode shorter = cache_.Find({T("a"), nullptr, 0});
  ASSERT_TRUE(leases_.Acquire(shorter, At(0, 0)).ok());
  ASSERT_TRUE(leases_.Acquire(longer, At(0, 0)).ok());
  EXPECT_EQ(leases_.Longest({T("abc"), nullptr, 0}), longer);
  EXPECT_EQ(leases_.Longest({T("ac"), nullptr, 0}), shorter);
  EXPECT_EQ(leases_.Longest({T("c"), nullptr, 0}), CacheNode{});
  leases_.Adopt(longer);
  EXPECT_EQ(leases_.Longest({T("abc"), nullptr, 0}), shorter);
  leases_.Adopt(longer);  // has none any more
  EXPECT_EQ(leases_.size(), 1U);
  leases_.Clear();
}

}  // namespace
}  // namespace superfluid
