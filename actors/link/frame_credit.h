#ifndef SUPERFLUID_ACTORS_LINK_FRAME_CREDIT_H_
#define SUPERFLUID_ACTORS_LINK_FRAME_CREDIT_H_

#include <memory>
#include <utility>

#include "actors/link/read_credit.h"
#include "actors/messages/link_reader_interface.h"
#include "actors/runtime/caf_compat.h"

namespace superfluid {

// The credit that one frame holds: given back to the link's reader when the last holder of the
// frame's contents is done with them, wherever in the worker that is. Shared through
// std::shared_ptr. Threads: may be destroyed by any thread.
class FrameCredit {
 public:
  FrameCredit(std::shared_ptr<ReadCredit> credit, const LinkReader& reader,
              const ReadCredit::Amount& amount)
      : credit_(std::move(credit)), reader_(reader), amount_(amount) {}
  FrameCredit(const FrameCredit&) = delete;
  FrameCredit& operator=(const FrameCredit&) = delete;
  ~FrameCredit() {
    if (credit_->Give(amount_)) compat::SendFromOutside(reader_.Lock(), CreditGiven{});
  }

 private:
  const std::shared_ptr<ReadCredit> credit_;
  const compat::Weak<LinkReader> reader_;
  const ReadCredit::Amount amount_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_FRAME_CREDIT_H_
