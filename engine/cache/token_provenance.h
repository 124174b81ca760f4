#ifndef SUPERFLUID_ENGINE_CACHE_TOKEN_PROVENANCE_H_
#define SUPERFLUID_ENGINE_CACHE_TOKEN_PROVENANCE_H_

#include <array>
#include <cstdint>
#include <map>

#include "engine/handles.h"

namespace superfluid {

// Fingerprints of the media that tokens stand for, by the tokens' positions.
using MediaMap = std::map<uint64_t, uint64_t>;
// The fingerprint at `position`; 0: none.
uint64_t MediaAt(const MediaMap& media, uint64_t position);

// What a state was computed from: compare the digests. The last eight bytes are the adapter's
// fingerprint alone. `media` has positions and fingerprints.
class TokenProvenance {
 public:
  explicit TokenProvenance(uint64_t adapter) : adapter_(adapter) {}
  void Add(Token token, uint64_t media);
  Digest digest() const;

 private:
  uint64_t adapter_;
  std::array<uint64_t, 3> words_{0x51, 0x52, 0x53};
};
uint64_t AdapterOfProvenance(const Digest& digest);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CACHE_TOKEN_PROVENANCE_H_
