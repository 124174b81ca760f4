#ifndef SUPERFLUID_TESTS_PROTOCOL_SAMPLES_H_
#define SUPERFLUID_TESTS_PROTOCOL_SAMPLES_H_

#include <vector>

#include "protocol/messages/messages.h"

namespace superfluid::linkw {

// At least one message of every type, call, reply and alternative, no field left at its default and
// no two fields of a message alike: a field that is mixed up with another cannot go unseen.
std::vector<DriverMessage> DriverSamples();
std::vector<WorkerMessage> WorkerSamples();

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_TESTS_PROTOCOL_SAMPLES_H_
