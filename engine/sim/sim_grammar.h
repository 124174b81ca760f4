#ifndef SUPERFLUID_ENGINE_SIM_SIM_GRAMMAR_H_
#define SUPERFLUID_ENGINE_SIM_SIM_GRAMMAR_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/handles.h"

namespace superfluid {

// The token that ends a text under a grammar. It may come where the text is complete; drawing it
// finishes the lane as a stop token does, and nothing but it may follow.
inline constexpr Token kSimEndOfText = 0;

using SimByteSet = std::bitset<256>;

// A piece of a grammar over bytes; the texts are JSON without spaces.
struct SimGrammarNode {
  enum class Kind : uint8_t {
    kObject,    // texts: `"key":` in order; children: their values; required
    kArray,     // children[0]: the items; min, max: how many
    kString,    // min, max: characters. Printable ASCII and \" \\ \/ \b \f \n \r \t
    kNumber,    // integer: without fraction and exponent. 18 digits at most
    kLiterals,  // texts: one of these, sorted
    kTags,      // free text, in it `texts[i]` value `ends[i]` wherever a trigger occurs
  };
  Kind kind = Kind::kLiterals;
  std::vector<std::string> texts;
  std::vector<size_t> children;
  std::vector<bool> required;
  std::vector<std::string> ends;
  std::vector<std::string> triggers;
  uint64_t min = 0;
  uint64_t max = UINT64_MAX;
  bool integer = false;
};

// Immutable once compiled (sim_schema.h). Every text that a prefix of which was accepted can be
// completed.
struct SimGrammar {
  std::vector<SimGrammarNode> nodes;
  size_t root = 0;
};

// Reads a text byte by byte. Copies are cheap. Lifetime: the grammar must outlive it.
class SimMatcher {
 public:
  explicit SimMatcher(const SimGrammar& grammar);

  // False: no text of the grammar continues so; do not use the matcher any more.
  bool Advance(Token token);
  // Whether the text may end here.
  bool Complete() const;
  // The tokens that may follow.
  SimByteSet Allowed() const;

 private:
  using Node = SimGrammarNode;
  struct Frame {
    size_t node = 0;
    uint32_t state = 0;
    size_t first = 0;    // of the candidate texts, the first
    size_t matched = 0;  // bytes of it
    uint64_t count = 0;  // characters, items, digits; of an object the first property not done
  };
  enum class Fed : uint8_t {
    kTaken,
    kRefused,
    kEnded,      // with this byte
    kEndedThen,  // before this byte, which is for what is around it
    kPushed,     // the value that `push_` names begins after this byte
    kPushedThen  // the value that `push_` names begins with this byte
  };

  const Node& NodeOf(const Frame& frame) const { return grammar_->nodes[frame.node]; }
  Fed Feed(Frame& frame, uint8_t byte);
  Fed FeedObject(Frame& frame, const Node& node, uint8_t byte);
  Fed FeedKey(Frame& frame, const Node& node, uint8_t byte);
  Fed FeedArray(Frame& frame, const Node& node, uint8_t byte);
  Fed FeedString(Frame& frame, const Node& node, uint8_t byte);
  Fed FeedNumber(Frame& frame, const Node& node, uint8_t byte);
  Fed FeedLiterals(Frame& frame, const Node& node, uint8_t byte);
  Fed FeedTags(Frame& frame, const Node& node, uint8_t byte);
  Fed FeedFreeText(Frame& frame, const Node& node, uint8_t byte);
  Fed FeedBegin(Frame& frame, const Node& node, uint8_t byte);
  Fed FeedEnd(Frame& frame, const Node& node, uint8_t byte);
  bool MayEnd(const Frame& frame) const;
  bool AdvanceByte(uint8_t byte);

  const SimGrammar* grammar_;
  std::vector<Frame> stack_;  // the innermost value last
  std::string tail_;          // the last bytes of free text, as many as the longest trigger has
  size_t push_ = 0;
  bool ended_ = false;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_GRAMMAR_H_
