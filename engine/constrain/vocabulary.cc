#include "engine/constrain/vocabulary.h"

#include <algorithm>

#include "engine/constrain/string_table.h"

namespace superfluid {
namespace {

constexpr size_t kMaxTokenBytes = 4096;  // a longer token never comes

void SetBit(TokenBits& bits, Token token) { bits[token / 64] |= uint64_t{1} << (token % 64); }

}  // namespace

Vocabulary::Vocabulary(const TokenTexts& tokens) : ends_(tokens.ends) {
  std::sort(ends_.begin(), ends_.end());
  for (const auto& [token, name] : tokens.named) {
    if (!name.empty()) named_.emplace(token, name);
  }
  offsets_.push_back(0);
  for (size_t i = 0; i < tokens.texts.size(); ++i) {
    const bool text = !Ends(static_cast<Token>(i)) && !named_.contains(static_cast<Token>(i)) &&
                      tokens.texts[i].size() <= kMaxTokenBytes;
    if (text) buffer_ += tokens.texts[i];
    offsets_.push_back(static_cast<uint32_t>(buffer_.size()));
    longest_ = std::max(longest_, offsets_[i + 1] - offsets_[i]);
  }
  for (const auto& [token, name] : named_) {
    longest_ = std::max(longest_, static_cast<uint32_t>(name.size()));
  }
  BuildTrie();
  BuildString(Inside::kValue);
  BuildString(Inside::kName);
}

absl::string_view Vocabulary::Bytes(Token token) const {
  if (token >= size()) return "";
  return absl::string_view(buffer_).substr(offsets_[token], offsets_[token + 1] - offsets_[token]);
}

bool Vocabulary::Ends(Token token) const {
  return std::binary_search(ends_.begin(), ends_.end(), token);
}

absl::string_view Vocabulary::NameOf(Token token) const {
  const auto found = named_.find(token);
  return found == named_.end() ? absl::string_view() : absl::string_view(found->second);
}

size_t Vocabulary::bytes() const {
  return buffer_.capacity() + (offsets_.capacity() + more_.capacity()) * 4 +
         byte_.capacity() * (1 + 2 + 4 + 4) + characters_.capacity() * 2 +
         (2 + bounded_.size()) * words() * 8;
}

// Tokens of one text are chained; the trie's nodes come in the order of the sorted texts.
void Vocabulary::BuildTrie() {
  std::vector<Token> order;
  for (Token token = 0; token < size(); ++token) {
    if (!Bytes(token).empty()) order.push_back(token);
  }
  std::sort(order.begin(), order.end(), [this](Token a, Token b) {
    const int text = Bytes(a).compare(Bytes(b));
    return text != 0 ? text < 0 : a < b;
  });
  more_.assign(size(), 0);
  const auto add_node = [this](uint8_t byte, size_t depth) {
    byte_.push_back(byte);
    depth_.push_back(static_cast<uint16_t>(depth));
    skip_.push_back(0);
    first_.push_back(0);
    return static_cast<uint32_t>(byte_.size() - 1);
  };
  std::vector<uint32_t> path = {add_node(0, 0)};
  absl::string_view last_text;
  Token last = 0;
  const auto close_to = [&](size_t depth) {
    for (; path.size() > depth; path.pop_back()) {
      skip_[path.back()] = static_cast<uint32_t>(byte_.size());
    }
  };
  for (const Token token : order) {
    const absl::string_view text = Bytes(token);
    if (text == last_text) {
      more_[last] = token + 1;
    } else {
      const auto common = static_cast<size_t>(
          std::mismatch(text.begin(), text.end(), last_text.begin(), last_text.end()).first -
          text.begin());
      close_to(common + 1);
      for (size_t i = common; i < text.size(); ++i) {
        path.push_back(add_node(static_cast<uint8_t>(text[i]), i + 1));
      }
      first_[path.back()] = token + 1;
    }
    last_text = text;
    last = token;
  }
  close_to(0);
}

void Vocabulary::BuildString(Inside inside) {
  const bool value = inside == Inside::kValue;
  const StringTable& table = value ? StringTable::OfValues() : StringTable::OfNames();
  InString& string = strings_[static_cast<size_t>(inside)];
  string.staying.assign(words(), 0);
  if (value) characters_.assign(size(), 0);
  std::vector<uint8_t> states(longest_ + 1, StringTable::kBetween);
  std::vector<uint16_t> begun(longest_ + 1, 0);
  for (uint32_t i = 1; i < byte_.size();) {
    const uint32_t depth = depth_[i];
    const uint8_t before = states[depth - 1];
    const uint8_t next = table.Next(before, byte_[i]);
    if (next == StringTable::kClosed) string.closings.push_back({i, begun[depth - 1]});
    if (next == StringTable::kClosed || next == StringTable::kNone) {
      i = skip_[i];
      continue;
    }
    states[depth] = next;
    const bool begins = before == StringTable::kBetween;
    begun[depth] = static_cast<uint16_t>(begun[depth - 1] + (begins ? 1 : 0));
    ForEachToken(i, [&](Token token) {
      SetBit(string.staying, token);
      if (value) characters_[token] = begun[depth];
    });
    if (value) most_characters_ = std::max(most_characters_, uint32_t{begun[depth]});
    ++i;
  }
}

const TokenBits& Vocabulary::Staying(Inside inside, uint32_t max_characters) {
  const InString& string = Of(inside);
  if (inside == Inside::kName || max_characters >= most_characters_) return string.staying;
  const auto [at, fresh] = bounded_.try_emplace(max_characters);
  if (fresh) {
    at->second = string.staying;
    for (Token token = 0; token < size(); ++token) {
      if (characters_[token] <= max_characters) continue;
      at->second[token / 64] &= ~(uint64_t{1} << (token % 64));
    }
  }
  return at->second;
}

std::string Vocabulary::PathTo(uint32_t node) const {
  std::string path;
  for (uint32_t at = 0; path.size() < depth_[node];) {
    uint32_t child = at + 1;
    while (skip_[child] <= node) child = skip_[child];
    path += static_cast<char>(byte_[child]);
    at = child;
  }
  return path;
}

}  // namespace superfluid
