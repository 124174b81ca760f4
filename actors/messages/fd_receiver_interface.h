#ifndef SUPERFLUID_ACTORS_MESSAGES_FD_RECEIVER_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_FD_RECEIVER_INTERFACE_H_

#include <cstdint>

#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"

namespace superfluid {

// The descriptor socket is readable, or has ended. Sent by the receiver's channel to the receiver.
struct ReceiveDescriptors {};

// The dispatcher claimed or dropped `count` descriptors: as many more may be sent to it.
struct GrantDescriptors {
  uint32_t count = 0;
};

// Receives one link's tagged descriptors and hands them to the dispatcher. See fd_receiver.h.
using FdReceiver =
    compat::Handle<caf::result<void>(ReceiveDescriptors), caf::result<void>(GrantDescriptors)>;

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_FD_RECEIVER_INTERFACE_H_
