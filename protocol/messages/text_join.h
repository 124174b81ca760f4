#ifndef SUPERFLUID_PROTOCOL_MESSAGES_TEXT_JOIN_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_TEXT_JOIN_H_

#include <string>
#include <string_view>

namespace superfluid::linkw {

// Returns what belongs between two pieces of speech, segments or words: " ", or "" if one is empty,
// one has a blank there, or both are of writing without blanks between words (Chinese, Japanese,
// Thai, Lao, Khmer, Burmese). Digits and punctuation are of the writing around them. UTF-8; other
// bytes count as letters. Cost: that of the nearest 64 bytes of each. Threads: any.
std::string_view Separator(std::string_view left, std::string_view right);

// Appends a piece with what belongs before it.
void AppendPiece(std::string_view piece, std::string& text);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_TEXT_JOIN_H_
