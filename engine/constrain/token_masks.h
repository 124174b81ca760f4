#ifndef SUPERFLUID_ENGINE_CONSTRAIN_TOKEN_MASKS_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_TOKEN_MASKS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "engine/constrain/stacks.h"
#include "engine/constrain/vocabulary.h"

namespace superfluid {

// The tokens that may follow one stack.
struct TokenMask {
  const TokenBits* base = nullptr;  // of a vocabulary; null: none
  TokenBits bits;                   // empty, or one a token
  std::vector<Token> list;          // sorted; none of them is in `base` or `bits`
  bool ends = false;                // the tokens that end a text may follow, too

  size_t bytes() const { return sizeof(*this) + bits.size() * 8 + list.size() * sizeof(Token); }
};

// The masks of one grammar over one vocabulary, each made once: a walk over the trie of tokens
// that takes notes of the lowest frame it looked at. A mask is filed under exactly the frames that
// were looked at, from the top down, with counts replaced by their distance to a bound where that
// is all that one token can tell; so it is right for every stack with these frames on top.
//
// Shapes and costs (200,000 tokens): a known mask is a hash look-up a frame, some 100 ns. A new
// one: inside a string, the vocabulary's bits for it and a walk behind the tokens that close it; in
// an automaton or free text, a loop over the trie without frames (up to 2 ms); else a walk that
// dies after a few bytes (up to 50 us). A mask takes 100 bytes to 2 KiB as a list, a bit a token
// if more than a 32nd of all may follow.
//
// Threads: one. Lifetime: the vocabulary outlives it.
//
// Invariants:
//  1. MaskOf(stack) is what walking every token from that stack alone gives.
//  2. bytes() exceeds kMaxBytes by one mask at most: then all masks are forgotten.
class TokenMasks {
 public:
  static constexpr size_t kMaxBytes = size_t{32} << 20U;

  // `spelled`: tokens that are no text, and are meant by their names.
  TokenMasks(Vocabulary& vocabulary, std::vector<Token> spelled)
      : vocabulary_(vocabulary), spelled_(std::move(spelled)) {}
  TokenMasks(const TokenMasks&) = delete;
  TokenMasks& operator=(const TokenMasks&) = delete;

  // Returns the mask of a stack, null if it was not made yet. Valid until MakeRoom.
  const TokenMask* Find(const Stacks& stacks, uint32_t top) const;
  // Makes the mask of a stack. REQUIRES: Find returns null.
  const TokenMask& Make(Stacks& stacks, uint32_t top);
  // Forgets the masks if they are too many, or all the same.
  void MakeRoom();
  void Clear();

  // Returns the mask of a stack as a walk without notes and shortcuts makes it. For tests.
  TokenBits WalkAll(Stacks& stacks, uint32_t top) const;

  size_t bytes() const { return bytes_; }
  size_t count() const { return masks_.size(); }
  uint64_t steps() const { return steps_; }  // trie nodes that were looked at so far

 private:
  struct Key {
    uint32_t above = 0;
    Frame frame;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return HashOf(key.frame, key.above); }
  };
  static constexpr uint32_t kNoMask = UINT32_MAX;

  Frame Canonical(const Stacks& stacks, const Frame& frame) const;
  // Returns the frame that stands for how deep values may still be nested, if a token can tell.
  bool RoomFrame(const Stacks& stacks, uint32_t top, Frame& room) const;
  uint32_t Descend(uint32_t above, const Frame& frame);
  void File(const Stacks& stacks, uint32_t top, uint32_t lowest, uint32_t mask);

  // Each walks from a stack, and sets the bits of the tokens that may follow.
  void Walk(Stacks& stacks, uint32_t node, const std::vector<uint32_t>& tops);
  void WalkString(Stacks& stacks, uint32_t top, TokenMask& mask);
  void WalkName(Stacks& stacks, uint32_t top, TokenMask& mask);
  void WalkStringTable(Stacks& stacks, uint32_t top);
  void WalkAutomaton(Stacks& stacks, uint32_t top);
  void WalkFreeText(Stacks& stacks, uint32_t top);
  void WalkSpelled(Stacks& stacks, uint32_t top);
  void WalkAny(Stacks& stacks, uint32_t top, TokenMask& mask);
  void WalkBehind(Stacks& stacks, uint32_t node, const std::vector<uint32_t>& tops);
  void SetTokensAt(uint32_t node);
  void Fill(TokenMask& mask) const;

  Vocabulary& vocabulary_;
  const std::vector<Token> spelled_;
  absl::flat_hash_map<Key, uint32_t, KeyHash> children_;
  std::vector<uint32_t> mask_at_ = {kNoMask};  // by place in the tree of frames
  std::deque<TokenMask> masks_;
  size_t bytes_ = 0;
  uint64_t steps_ = 0;
  TokenBits scratch_;
  std::vector<std::vector<uint32_t>> sets_;  // by depth of a walk
  std::vector<size_t> marks_;
  std::vector<int32_t> states_;
  std::vector<uint32_t> counts_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_TOKEN_MASKS_H_
