#ifndef SUPERFLUID_ACTORS_ENGINE_FOOTPRINT_H_
#define SUPERFLUID_ACTORS_ENGINE_FOOTPRINT_H_

#include <cstdint>
#include <optional>

#include "actors/engine/engine_link.h"
#include "actors/engine/work_queue.h"
#include "protocol/messages/messages.h"

namespace superfluid {

// Returns what a request of this link touches, for the order between requests:
//
//   TICK               its lanes and sequences; uses its grammars and biases, and, if a lane's
//                      sequence may be empty by then, the cache and the leases: the input may start
//                      with a cached prefix, and takes over a lease
//   MATCH              uses the cache
//   SEED_ACQUIRE       uses the cache, changes the leases
//   SEED_RELEASE       changes the leases
//   PUBLISH, ADOPT     change their sequence and the cache, ADOPT the leases as well
//   UNPUBLISH, EVICT   change the cache and the leases
//   FREE_GRAMMAR, FREE_LOGIT_BIAS, MEDIA_RELEASE    their handle
//   MEDIA_BIND         its lane; uses its media
//   LORA_LOAD, LORA_UNLOAD    everything
//   other calls        the sequence, parent or lane that they name, if any
// `spare` is empty, but its memory is used.
Footprint FootprintOf(const linkw::DriverMessage& message, const EngineLink& link,
                      Footprint spare = {});

// Returns the sequence that a request may leave without tokens when its turn comes: what is sent
// behind it and gives that sequence an input gives it its first (EngineLink::MayBeEmpty).
std::optional<uint64_t> EmptiedBy(const linkw::DriverMessage& message);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_FOOTPRINT_H_
