#ifndef SUPERFLUID_ACTORS_LINK_FD_RECEIVER_H_
#define SUPERFLUID_ACTORS_LINK_FD_RECEIVER_H_

#include <cstdint>
#include <memory>

#include "actors/messages/dispatcher_interface.h"
#include "actors/messages/fd_receiver_interface.h"
#include "shm/fd_channel.h"

namespace superfluid {

// Receives the tagged descriptors of one link and hands them on; maps nothing.
//
// `credit` descriptors at most are unclaimed at the dispatcher; the rest stay in the socket, where
// the kernel bounds them. A message that breaks the rules (none or several descriptors, closed
// inside a message) ends the channel, and with it this actor; the dispatcher is told
// (DescriptorsEnded) and the link goes on without descriptors.
//
// Never blocks: it shares its thread with other links.
class FdReceiverState {
 public:
  static constexpr const char* name = "fd-receiver";

  explicit FdReceiverState(FdReceiver::pointer self) : self_(self) {}

  void Start(std::shared_ptr<FdChannel> channel, Dispatcher dispatcher, uint32_t credit);
  void OnReadable();
  void OnGrant(const GrantDescriptors& grant);
  void OnDispatcherDown() { End(); }

 private:
  void WaitUntilReadable();
  void End();

  FdReceiver::pointer self_;
  std::shared_ptr<FdChannel> channel_;
  Dispatcher dispatcher_;
  uint32_t credit_ = 0;
  bool stalled_ = false;
};

FdReceiver::behavior_type FdReceiverBehavior(FdReceiver::stateful_pointer<FdReceiverState> self,
                                             std::shared_ptr<FdChannel> channel,
                                             Dispatcher dispatcher, uint32_t credit);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_FD_RECEIVER_H_
