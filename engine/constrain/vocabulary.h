#ifndef SUPERFLUID_ENGINE_CONSTRAIN_VOCABULARY_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_VOCABULARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/handles.h"

namespace superfluid {

using TokenBits = std::vector<uint64_t>;  // a bit a token

// What the tokens of a model are in bytes.
struct TokenTexts {
  std::vector<std::string> texts;  // by token; "": the token is no text
  std::vector<Token> ends;         // those that end a text
  // Those that are no text, but stand for their name where a grammar spells it ("<tool_call>").
  std::vector<std::pair<Token, std::string>> named;
};

// The tokens of a model as a trie of their bytes, in preorder, for walks that skip what cannot be;
// and which tokens stay inside a string, for those walks that would see nearly all. Made once a
// model: some hundred milliseconds, and some 40 bytes a token. Immutable, but for masks that are
// made when they are first asked for. Threads: one.
class Vocabulary {
 public:
  explicit Vocabulary(const TokenTexts& tokens);
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  size_t size() const { return offsets_.size() - 1; }
  size_t words() const { return (size() + 63) / 64; }  // of TokenBits
  // Returns the bytes of a token; "" if it is no text, or there is no such token.
  absl::string_view Bytes(Token token) const;
  bool Ends(Token token) const;
  absl::Span<const Token> ends() const { return ends_; }
  // Returns the name of a token that is no text; "" for others.
  absl::string_view NameOf(Token token) const;
  const std::map<Token, std::string>& named() const { return named_; }
  uint32_t longest() const { return longest_; }  // bytes of a token
  size_t bytes() const;

  // ---- The trie. Node 0 is its root. ----

  size_t node_count() const { return byte_.size(); }
  uint8_t byte(size_t node) const { return byte_[node]; }
  uint32_t depth(size_t node) const { return depth_[node]; }
  // Returns the first node that does not lie below this one.
  uint32_t skip(size_t node) const { return skip_[node]; }
  // Calls `use` with each token that ends at a node.
  template <typename Use>
  void ForEachToken(size_t node, Use use) const {
    for (uint32_t next = first_[node]; next != 0; next = more_[next - 1]) use(Token{next - 1});
  }
  // Returns the bytes on the way to a node.
  std::string PathTo(uint32_t node) const;

  // ---- Strings that have begun, between two characters ----

  enum class Inside : uint8_t { kValue, kName };
  struct Closing {
    uint32_t node = 0;        // at whose byte the string ends
    uint32_t characters = 0;  // before it
  };
  const std::vector<Closing>& ClosingsOf(Inside inside) const { return Of(inside).closings; }
  // Returns the tokens that stay inside, and begin at most so many characters.
  const TokenBits& Staying(Inside inside, uint32_t max_characters);

 private:
  struct InString {
    TokenBits staying;
    std::vector<Closing> closings;
  };

  const InString& Of(Inside inside) const { return strings_[static_cast<size_t>(inside)]; }
  void BuildTrie();
  void BuildString(Inside inside);

  std::string buffer_;  // of all tokens
  std::vector<uint32_t> offsets_;
  std::vector<Token> ends_;
  std::map<Token, std::string> named_;
  uint32_t longest_ = 1;
  std::vector<uint8_t> byte_;
  std::vector<uint16_t> depth_;
  std::vector<uint32_t> skip_;
  std::vector<uint32_t> first_;  // a token + 1; 0: none ends here
  std::vector<uint32_t> more_;   // by token, another one of the same bytes + 1
  std::array<InString, 2> strings_;
  std::vector<uint16_t> characters_;  // by token, that it begins inside a value
  uint32_t most_characters_ = 0;
  std::map<uint32_t, TokenBits> bounded_;  // Staying of values, by characters
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_VOCABULARY_H_
