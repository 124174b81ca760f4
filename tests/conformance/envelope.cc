#include "tests/conformance/envelope.h"

#include <xxhash.h>

namespace superfluid::conformance {

uint64_t EnvelopeView::HashOfHeader() const { return XXH3_64bits(bytes_, kHash); }

uint64_t EnvelopeView::HashOfPayload() const { return XXH3_64bits(bytes_ + 160, U64(kPayloadLen)); }

}  // namespace superfluid::conformance
