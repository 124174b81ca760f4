#ifndef SUPERFLUID_TOOLS_CTL_GENERATION_TOKEN_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_GENERATION_TOKEN_TEXT_H_

#include <string>

#include "absl/types/span.h"
#include "protocol/messages/messages.h"

namespace superfluid::ctl {

// "12 13 14"
std::string TokenIdsText(absl::Span<const linkw::Token> tokens);

// Whether a token that is a byte belongs to a text: any but those that ByteTokenText shows as \xNN
// for what they do to a terminal, and those that are no bytes.
bool IsOfText(linkw::Token token);

// Tokens that are bytes, as text for a terminal. A character may come in pieces: it is kept until
// it is whole. What is no character, or would drive the terminal, is shown as \xNN, but for line
// breaks and tabs; a token that is no byte as <NNN>. Threads: one.
class ByteTokenText {
 public:
  // The text that can be shown by now.
  std::string Push(absl::Span<const linkw::Token> tokens);
  // What is left of a character that was cut.
  std::string Finish();

 private:
  std::string pending_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_GENERATION_TOKEN_TEXT_H_
