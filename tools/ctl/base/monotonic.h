#ifndef SUPERFLUID_TOOLS_CTL_BASE_MONOTONIC_H_
#define SUPERFLUID_TOOLS_CTL_BASE_MONOTONIC_H_

#include "protocol/messages/deadline.h"

namespace superfluid::ctl {

using linkw::MonotonicNow;

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_MONOTONIC_H_
