#include "tools/ctl/generation/token_text.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "protocol/messages/text.h"

namespace superfluid::ctl {
namespace {

constexpr size_t kLongestCharacter = 4;

// How long the character is that starts with `byte`; 0: none does.
size_t CharacterBytes(unsigned char byte) {
  if (byte < 0x80) return 1;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  if (byte >= 0xF0 && byte < 0xF5) return kLongestCharacter;
  return 0;
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Bytes of a character that is not whole, but still may become so.
bool MayBecomeCharacter(std::string_view text, size_t length) {
  if (text.size() >= length) return false;
  return std::ranges::all_of(text.substr(1), IsContinuation);
}

bool DrivesTerminal(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first == '\n' || first == '\t') return false;
  const bool c1 = first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return first < 0x20 || first == 0x7F || c1;
}

std::string Escaped(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) absl::StrAppendFormat(&text, "\\x%02X", static_cast<unsigned char>(c));
  return text;
}

// Takes what can be shown off the front of `pending`.
std::string TakeShowable(std::string& pending) {
  std::string text;
  std::string_view rest = pending;
  while (!rest.empty()) {
    const size_t length = CharacterBytes(static_cast<unsigned char>(rest[0]));
    if (length > 0 && MayBecomeCharacter(rest, length)) break;
    const std::string_view character = rest.substr(0, length == 0 ? 1 : length);
    if (length > 0 && linkw::IsUtf8(character)) {
      text += DrivesTerminal(character) ? Escaped(character) : std::string(character);
      rest.remove_prefix(length);
    } else {
      text += Escaped(rest.substr(0, 1));
      rest.remove_prefix(1);
    }
  }
  pending = std::string(rest);
  return text;
}

}  // namespace

std::string TokenIdsText(absl::Span<const linkw::Token> tokens) {
  return absl::StrJoin(tokens, " ");
}

bool IsOfText(linkw::Token token) {
  return token == '\n' || token == '\t' || (token >= 0x20 && token < 256 && token != 0x7F);
}

std::string ByteTokenText::Push(absl::Span<const linkw::Token> tokens) {
  std::string text;
  for (const linkw::Token token : tokens) {
    if (token < 256) {
      pending_.push_back(static_cast<char>(token));
      text += TakeShowable(pending_);
    } else {
      absl::StrAppend(&text, Finish(), "<", token, ">");
    }
  }
  return text;
}

std::string ByteTokenText::Finish() {
  std::string text = Escaped(pending_);
  pending_.clear();
  return text;
}

}  // namespace superfluid::ctl
