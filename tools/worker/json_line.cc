#include "tools/worker/json_line.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace superfluid {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kShortEscapes = "\"\\/bfnrt";
constexpr size_t kTimeBytes = 27;   // "2026-12-01T13:22:39.000000Z"
constexpr size_t kMostDigits = 18;  // of a number that readers hold exactly

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// A whole number as JSON writes it: no zeros in front.
bool IsNumber(std::string_view word) {
  if (word.substr(0, 1) == "-") word.remove_prefix(1);
  if (word.empty() || word.size() > kMostDigits) return false;
  if (word.size() > 1 && word[0] == '0') return false;
  return std::all_of(word.begin(), word.end(), IsDigit);
}

bool IsTime(std::string_view word) {
  return word.size() == kTimeBytes && IsDigit(word[0]) && word[10] == 'T' && word.back() == 'Z';
}

// A key, an event or a level: as this program writes them.
bool IsName(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  });
}

// Returns how many bytes the UTF-8 character at the start of `text` has; 0 if there is none.
size_t CharacterBytes(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t size = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (size == 0 || text.size() < size) return 0;
  // The second byte rules out longer forms than necessary, surrogates, and what is above U+10FFFF.
  const unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < least || byte(1) > most) return 0;
  for (size_t i = 2; i < size; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return size;
}

// Returns how many bytes the JSON escape at the start of `text` has; 0 if it is none.
size_t EscapeBytes(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != 'u') return kShortEscapes.find(text[1]) != std::string_view::npos ? 2 : 0;
  static constexpr size_t kBytes = 6;
  if (text.size() < kBytes) return 0;
  const std::string_view digits = text.substr(2, kBytes - 2);
  // Half a surrogate pair is no character.
  const bool is_surrogate = (digits[0] == 'd' || digits[0] == 'D') && digits[1] >= '8';
  return std::all_of(digits.begin(), digits.end(), IsHexDigit) && !is_surrogate ? kBytes : 0;
}

// Writes one object.
class Writer {
 public:
  explicit Writer(absl::Span<char> out) : out_(out) { Put("{"); }

  void Key(std::string_view key) {
    Put(size_ == 1 ? "\"" : ",\"");
    Put(key);
    Put("\":");
  }
  void Number(std::string_view digits) { Put(digits); }
  // `escaped`: its backslashes begin escapes.
  void String(std::string_view text, bool escaped) {
    Put("\"");
    while (!text.empty()) text.remove_prefix(PutCharacter(text, escaped));
    Put("\"");
  }
  std::string_view End() {
    Put("}\n");
    return {out_.data(), size_};
  }

 private:
  void Put(std::string_view text) {
    std::memcpy(out_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }

  // Returns how many bytes of `text` were taken.
  size_t PutCharacter(std::string_view text, bool escaped) {
    const auto byte = static_cast<unsigned char>(text[0]);
    if (byte == '\\' && escaped) {
      if (const size_t size = EscapeBytes(text); size > 0) {
        Put(text.substr(0, size));
        return size;
      }
    }
    if (byte == '"' || byte == '\\') {
      Put("\\");
      Put(text.substr(0, 1));
      return 1;
    }
    if (byte < 0x20 || byte == 0x7F) {
      const std::array<char, 6> escape = {
          '\\', 'u', '0', '0', kHexDigits[byte / 16], kHexDigits[byte % 16]};
      Put({escape.data(), escape.size()});
      return 1;
    }
    const size_t size = CharacterBytes(text);
    Put(size == 0 ? kReplacement : text.substr(0, size));
    return std::max<size_t>(size, 1);
  }

  absl::Span<char> out_;
  size_t size_ = 0;
};

// Returns the text up to the next blank, and takes it from `text` with the blank.
std::string_view TakeWord(std::string_view& text) {
  const size_t end = text.find(' ');
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

// Returns what stands in the quotes that `text` begins with, escapes and all, and takes it from
// there with the quotes; nullopt if they do not end.
std::optional<std::string_view> TakeQuoted(std::string_view& text) {
  size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return std::nullopt;
  const std::string_view inside = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return inside;
}

// Writes the first of the members key=value in `text`, and takes it from there. Returns false, and
// changes nothing, if there is none.
bool WriteMember(std::string_view& text, Writer& writer) {
  std::string_view rest = text;
  const size_t equals = rest.find('=');
  if (equals == std::string_view::npos || !IsName(rest.substr(0, equals))) return false;
  const std::string_view key = rest.substr(0, equals);
  rest.remove_prefix(equals + 1);
  if (rest.empty() || rest[0] != '"') {
    const std::string_view word = TakeWord(rest);
    writer.Key(key);
    IsNumber(word) && key != "worker" ? writer.Number(word) : writer.String(word, false);
    text = rest;
    return true;
  }
  const std::optional<std::string_view> quoted = TakeQuoted(rest);
  if (!quoted.has_value() || (!rest.empty() && rest[0] != ' ')) return false;
  writer.Key(key);
  writer.String(*quoted, true);
  rest.remove_prefix(rest.empty() ? 0 : 1);
  text = rest;
  return true;
}

}  // namespace

std::string_view WriteJsonLine(std::string_view line, absl::Span<char> out) {
  if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  Writer writer(out);
  std::string_view rest = line;
  const std::string_view time = TakeWord(rest);
  const std::string_view level = TakeWord(rest);
  const std::string_view event = TakeWord(rest);
  if (IsTime(time) && IsName(level) && IsName(event)) {
    for (const auto& [key, word] :
         {std::pair("time", time), std::pair("level", level), std::pair("event", event)}) {
      writer.Key(key);
      writer.String(word, false);
    }
    while (!rest.empty() && WriteMember(rest, writer)) {
    }
  } else {
    rest = line;
  }
  if (!rest.empty()) {
    writer.Key("text");
    writer.String(rest, false);
  }
  return writer.End();
}

std::string ToJsonLine(std::string_view line) {
  std::string out(MostJsonBytes(line.size()), '\0');
  out.resize(WriteJsonLine(line, absl::MakeSpan(out)).size());
  return out;
}

}  // namespace superfluid
