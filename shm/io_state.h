#ifndef SUPERFLUID_SHM_IO_STATE_H_
#define SUPERFLUID_SHM_IO_STATE_H_

namespace superfluid {

// How a call on a socket, or on what stands in for one in memory, ended if it did not fail.
enum class IoState {
  kOk,          // some of what was asked for was done
  kWouldBlock,  // nothing was done; wait until the other end acts
  kClosed,      // nothing was done and nothing will be: this direction is closed
};

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_IO_STATE_H_
