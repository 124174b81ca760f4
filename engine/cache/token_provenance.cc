#include "engine/cache/token_provenance.h"

#include <cstring>

#include "engine/sampling/mix.h"

namespace superfluid {

uint64_t MediaAt(const MediaMap& media, uint64_t position) {
  const auto found = media.find(position);
  return found == media.end() ? 0 : found->second;
}

void TokenProvenance::Add(Token token, uint64_t media) {
  for (uint64_t& word : words_) word = Mix(Mix(word, token), media);
}

Digest TokenProvenance::digest() const {
  return DigestOf(words_[0], words_[1], words_[2], adapter_);
}

uint64_t AdapterOfProvenance(const Digest& digest) {
  uint64_t adapter = 0;
  std::memcpy(&adapter, digest.data() + 24, sizeof(adapter));
  return adapter;
}

}  // namespace superfluid
