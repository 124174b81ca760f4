#ifndef SUPERFLUID_ACTORS_LINK_FRAME_CREDIT_H_
#define SUPERFLUID_ACTORS_LINK_FRAME_CREDIT_H_

#include "actors/messages/link_reader_interface.h"
#include "actors/runtime/caf_compat.h"

namespace superfluid {

// The credit that one frame holds: given back to the link's reader when the last holder of the
// frame's contents is done with them, wherever in the worker that is. Shared through
// std::shared_ptr. Threads: may be destroyed by any thread.
class FrameCredit {
 public:
  FrameCredit(const LinkReader& reader, GrantFrames grant) : reader_(reader), grant_(grant) {}
  FrameCredit(const FrameCredit&) = delete;
  FrameCredit& operator=(const FrameCredit&) = delete;
  ~FrameCredit() { compat::SendFromOutside(reader_.Lock(), grant_); }

 private:
  const compat::Weak<LinkReader> reader_;
  const GrantFrames grant_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_FRAME_CREDIT_H_
