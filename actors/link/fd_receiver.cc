#include "actors/link/fd_receiver.h"

#include <utility>

#include "absl/status/statusor.h"
#include "actors/runtime/printable.h"
#include "spdlog/spdlog.h"

namespace superfluid {

void FdReceiverState::Start(std::shared_ptr<FdChannel> channel, Dispatcher dispatcher,
                            uint32_t credit) {
  channel_ = std::move(channel);
  dispatcher_ = std::move(dispatcher);
  credit_ = credit;
  compat::Send(self_, FdReceiver(self_), ReceiveDescriptors{});
}

void FdReceiverState::OnReadable() {
  while (credit_ > 0) {
    absl::StatusOr<FdReceiveResult> received = channel_->Receive();
    if (!received.ok()) {
      spdlog::warn("fds.broken error=\"{}\"", Printable(received.status().message()));
      return End();
    }
    if (received->state == IoState::kClosed) return End();
    if (received->state == IoState::kWouldBlock) return WaitUntilReadable();
    --credit_;
    compat::Send(self_, dispatcher_,
                 DescriptorReceived{
                     .tag = received->item->tag,
                     .fd = std::make_shared<OwnedFd>(std::move(received->item->fd)),
                 });
  }
  stalled_ = true;
}

void FdReceiverState::OnGrant(const GrantDescriptors& grant) {
  credit_ += grant.count;
  if (!std::exchange(stalled_, false)) return;
  OnReadable();
}

void FdReceiverState::WaitUntilReadable() {
  channel_->WhenReadable([weak = compat::Weak<FdReceiver>(FdReceiver(self_))] {
    compat::SendFromOutside(weak.Lock(), ReceiveDescriptors{});
  });
}

void FdReceiverState::End() {
  channel_->Shutdown();
  compat::Send(self_, dispatcher_, DescriptorsEnded{});
  self_->quit();
}

FdReceiver::behavior_type FdReceiverBehavior(FdReceiver::stateful_pointer<FdReceiverState> self,
                                             std::shared_ptr<FdChannel> channel,
                                             Dispatcher dispatcher, uint32_t credit) {
  self->set_down_handler([self](const caf::down_msg&) { self->state.OnDispatcherDown(); });
  self->monitor(dispatcher);
  self->state.Start(std::move(channel), std::move(dispatcher), credit);
  return {
      [self](const ReceiveDescriptors&) { self->state.OnReadable(); },
      [self](const GrantDescriptors& grant) { self->state.OnGrant(grant); },
  };
}

}  // namespace superfluid
