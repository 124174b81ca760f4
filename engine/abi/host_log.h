#ifndef SUPERFLUID_ENGINE_ABI_HOST_LOG_H_
#define SUPERFLUID_ENGINE_ABI_HOST_LOG_H_

#include <memory>

#include "engine/abi/superfluid_engine.h"
#include "engine/engine.h"

namespace superfluid {

// The host's log as a plug-in reaches it. Lines are cut at SFL_MAX_LOG_BYTES and made valid UTF-8
// without control characters; those that come after this object is gone are dropped.
//
// Threads: the plug-in may log from any thread, so `log` must bear that.
class HostLog {
 public:
  // `about` is for the host's own lines; null: they go to `log`.
  explicit HostLog(EngineLog log, EngineLog about = nullptr);
  HostLog(const HostLog&) = delete;
  HostLog& operator=(const HostLog&) = delete;
  ~HostLog();

  // What to hand to the plug-in; lives as long as this object.
  const sfl_host* abi() const { return &host_; }

  // A line of the host's own about its plug-in.
  void Write(EngineLogLevel level, absl::string_view line) const;

 private:
  std::shared_ptr<const EngineLog> log_;
  const EngineLog about_;
  sfl_host host_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_HOST_LOG_H_
