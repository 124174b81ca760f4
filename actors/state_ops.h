#ifndef SUPERFLUID_ACTORS_STATE_OPS_H_
#define SUPERFLUID_ACTORS_STATE_OPS_H_

#include <optional>

#include "actors/buffer_table.h"
#include "actors/state_ops_interface.h"

namespace superfluid {

// Owns the shared-memory buffers of one link; BufferTable has the rules. Pooled: mapping memory is
// short, but not the business of the actors on the hot path.
class StateOpsState {
 public:
  static constexpr const char* name = "state-ops";

  explicit StateOpsState(StateOps::pointer self) : self_(self) {}

  void Start(const BufferLimits& limits) { buffers_.emplace(limits); }
  BufferAllocated OnAllocate(const AllocateBuffer& allocate);
  BufferAttached OnAttach(const AttachBuffer& attach);
  void OnRelease(const ReleaseBuffer& release) { buffers_->Release(release.id); }
  void OnBind(const BindBuffer& bind);

 private:
  StateOps::pointer self_;
  std::optional<BufferTable> buffers_;
};

StateOps::behavior_type StateOpsBehavior(StateOps::stateful_pointer<StateOpsState> self,
                                         BufferLimits limits);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_STATE_OPS_H_
