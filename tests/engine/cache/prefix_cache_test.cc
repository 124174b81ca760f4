#include "engine/sim/sim_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine/sim/sim_leases.h"

namespace superfluid {
namespace {

constexpr EvictPolicy kAll{UINT32_MAX, 0, 0};

class SimCacheTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(cache_.CheckInvariants()); }

  // Tokens whose blocks are the letters of `text`.
  static std::vector<Token> T(const std::string& text) {
    std::vector<Token> tokens;
    for (const char c : text) {
      for (Token i = 0; i < kSimBlockTokens; ++i) tokens.push_back(static_cast<Token>(c) + i % 3);
    }
    return tokens;
  }
  SimCacheNode Insert(const std::string& text, uint64_t adapter = 0, SimMediaMap media = {}) {
    std::vector<SimCachedBlock> blocks;
    for (size_t i = 0; i < text.size(); ++i) blocks.push_back({pool_.Take(), {}});
    const auto tokens = T(text);
    return cache_.Insert({tokens, &media, adapter}, blocks);
  }
  uint64_t Found(const std::string& text, uint64_t adapter = 0, SimMediaMap media = {}) const {
    const auto tokens = T(text);
    return cache_.EndOf(cache_.Find({tokens, &media, adapter})) / kSimBlockTokens;
  }
  uint64_t FoundByDeps(const std::string& text, const std::vector<uint64_t>& deps) const {
    return cache_.EndOf(cache_.FindByDeps(T(text), deps, 0)) / kSimBlockTokens;
  }

  SimBlockPool pool_{1000};
  SimCache cache_;
};

TEST_F(SimCacheTest, FindsTheLongestPrefix) {
  EXPECT_EQ(Found("abc"), 0U);
  Insert("abc");
  EXPECT_EQ(Found("abc"), 3U);
  EXPECT_EQ(Found("abx"), 2U);
  EXPECT_EQ(Found("abcd"), 3U);
  EXPECT_EQ(Found("b"), 0U);
  EXPECT_EQ(Found("abc", /*adapter=*/1), 0U);
  auto tokens = T("abc");
  tokens.pop_back();
  EXPECT_EQ(cache_.EndOf(cache_.Find({tokens, nullptr, 0})), 2 * kSimBlockTokens);
}

TEST_F(SimCacheTest, InsertingAgainSharesWhatIsThere) {
  Insert("ab");
  EXPECT_EQ(pool_.live(), 2U);
  Insert("abc");
  EXPECT_EQ(pool_.live(), 3U);
  EXPECT_EQ(cache_.bytes(), 3 * kSimBlockBytes);
}

TEST_F(SimCacheTest, MediaArePartOfTheKey) {
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

TEST_F(SimCacheTest, EvictsTheLeastRecentlyUsedLeafFirst) {
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
  EXPECT_EQ(pool_.live(), 0U);
}

TEST_F(SimCacheTest, KeepsWhatIsPinnedOrUsed) {
  const SimCacheNode node = Insert("abc");
  Insert("abd");
  cache_.Pin(node);
  EXPECT_EQ(cache_.EvictableBytes(), kSimBlockBytes);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, kAll), kSimBlockBytes);
  EXPECT_EQ(Found("abc"), 3U);
  cache_.Unpin(node);
  const auto used = cache_.Use(cache_.Find({T("ab"), nullptr, 0}));
  EXPECT_EQ(cache_.EvictableBytes(), kSimBlockBytes);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, kAll), kSimBlockBytes);
  EXPECT_EQ(Found("abc"), 2U);
}

TEST_F(SimCacheTest, EvictionFollowsThePolicy) {
  Insert(std::string(20, 'a'));  // 16 blocks of class 0, four of class 1
  const uint64_t all = 20 * kSimBlockBytes;
  EXPECT_EQ(cache_.EvictableBytes(), all);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {0, 0, 0}), 0U);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {1, 0, 0}), 0U);  // class 1 lies before
  EXPECT_EQ(cache_.Evict(0, kAll), 0U);
  EXPECT_EQ(cache_.Evict(1, kAll), kSimBlockBytes);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {UINT32_MAX, 0, kSimBlockBytes + 1}), kSimBlockBytes);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {2, 0, 0}), 2 * kSimBlockBytes);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {UINT32_MAX, UINT64_MAX, 0}), 0U);
  EXPECT_EQ(cache_.Evict(UINT64_MAX, {UINT32_MAX, 10 * kSimBlockBytes, 0}), 6 * kSimBlockBytes);
  EXPECT_EQ(cache_.bytes(), 10 * kSimBlockBytes);
}

TEST_F(SimCacheTest, ForgetsWithAllThatExtendIt) {
  Insert("abc");
  Insert("abd");
  Insert("ax");
  cache_.Forget(cache_.Find({T("ab"), nullptr, 0}));
  EXPECT_EQ(Found("abc"), 1U);
  EXPECT_EQ(Found("ax"), 2U);
  EXPECT_EQ(pool_.live(), 2U);
}

TEST_F(SimCacheTest, ForgottenButPinnedStaysUntilUnpinned) {
  const SimCacheNode node = Insert("abc");
  cache_.Pin(node);
  cache_.Forget(cache_.Find({T("a"), nullptr, 0}));
  EXPECT_EQ(Found("abc"), 0U);
  EXPECT_EQ(pool_.live(), 3U);
  EXPECT_TRUE(cache_.IsPrefix(node, {T("abcd"), nullptr, 0}));
  EXPECT_FALSE(cache_.IsPrefix(node, {T("ab"), nullptr, 0}));
  EXPECT_FALSE(cache_.IsPrefix(node, {T("abd"), nullptr, 0}));
  EXPECT_EQ(cache_.Use(node).size(), 3U);
  Insert("ab");
  EXPECT_EQ(Found("abc"), 2U);
  cache_.Forget(cache_.Find({T("a"), nullptr, 0}));
  EXPECT_TRUE(cache_.CheckInvariants());
  cache_.Unpin(node);
  EXPECT_EQ(pool_.live(), 0U);
}

TEST_F(SimCacheTest, ForgetsByProvenance) {
  Insert("abc");
  SimProvenance provenance(0);
  for (const Token token : T("ab")) provenance.Add(token, 0);
  cache_.ForgetByProvenance({Digest{}});
  EXPECT_EQ(Found("abc"), 3U);
  cache_.ForgetByProvenance({provenance.digest()});
  EXPECT_EQ(Found("abc"), 1U);
}

class SimLeasesTest : public SimCacheTest {
 protected:
  static SimLeases::Moment At(int64_t ms, uint64_t tick) {
    return {absl::UnixEpoch() + absl::Milliseconds(ms), tick};
  }
  SimHandles handles_;
  SimLeases leases_{cache_, handles_, {100, 5, 3}};
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
  EXPECT_EQ(cache_.EvictableBytes(), 2 * kSimBlockBytes);
}

TEST_F(SimLeasesTest, AreReleasedOnceAndBounded) {
  const SimCacheNode node = Insert("a");
  const auto lease = leases_.Acquire(node, At(0, 0));
  ASSERT_TRUE(lease.ok());
  EXPECT_TRUE(leases_.Release(lease->seed).ok());
  EXPECT_TRUE(absl::IsNotFound(leases_.Release(lease->seed)));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(leases_.Acquire(node, At(0, 0)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(leases_.Acquire(node, At(0, 0)).status()));
  leases_.Clear();
  EXPECT_EQ(cache_.EvictableBytes(), kSimBlockBytes);
}

TEST_F(SimLeasesTest, TheLongestIsAdopted) {
  const SimCacheNode longer = Insert("ab");
  const SimCacheNode shorter = cache_.Find({T("a"), nullptr, 0});
  ASSERT_TRUE(leases_.Acquire(shorter, At(0, 0)).ok());
  ASSERT_TRUE(leases_.Acquire(longer, At(0, 0)).ok());
  EXPECT_EQ(leases_.Longest({T("abc"), nullptr, 0}), longer);
  EXPECT_EQ(leases_.Longest({T("ac"), nullptr, 0}), shorter);
  EXPECT_EQ(leases_.Longest({T("c"), nullptr, 0}), SimCacheNode{});
  leases_.Adopt(longer);
  EXPECT_EQ(leases_.Longest({T("abc"), nullptr, 0}), shorter);
  leases_.Adopt(longer);  // has none any more
  EXPECT_EQ(leases_.size(), 1U);
  leases_.Clear();
}

}  // namespace
}  // namespace superfluid
