#ifndef SUPERFLUID_TESTS_FUZZ_IN_PIECES_H_
#define SUPERFLUID_TESTS_FUZZ_IN_PIECES_H_

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "tests/fuzz/target.h"

namespace superfluid::fuzz {

// How long the pieces are in which bytes come; 0: all at once.
inline constexpr size_t kPieces[] = {0, 1, 7};

// Calls `feed` with each piece of `bytes`.
template <class Feed>
void FeedInPieces(std::string_view bytes, size_t piece, Feed feed) {
  if (piece == 0) piece = std::max<size_t>(bytes.size(), 1);
  for (size_t at = 0; at < bytes.size(); at += piece) feed(bytes.substr(at, piece));
}

// Requires `read(piece)`, the text of what was read from pieces of this length, to be always the
// same.
template <class Read>
void RequireSame(Read read) {
  const std::string whole = read(kPieces[0]);
  for (const size_t piece : kPieces) {
    const std::string cut = read(piece);
    if (cut == whole) continue;
    std::fprintf(stderr, "whole: %s\n\nin pieces of %zu: %s\n", whole.c_str(), piece, cut.c_str());
    Require(false);
  }
}

}  // namespace superfluid::fuzz

#endif  // SUPERFLUID_TESTS_FUZZ_IN_PIECES_H_
