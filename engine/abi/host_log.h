#ifndef SUPERFLUID_ENGINE_ABI_HOST_LOG_H_
#define SUPERFLUID_ENGINE_ABI_HOST_LOG_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "engine/abi/superfluid_engine.h"
#include "engine/engine.h"

namespace superfluid {

// What the host hears of a plug-in: its log, and how much of its model is loaded. Lines are cut at
// SFL_MAX_LOG_BYTES and made valid UTF-8 without control characters; those that come after this
// object is gone are dropped. What is said of loading is dropped unless it comes from the thread
// that made this object, before EndLoading.
//
// Threads: the plug-in may log from any thread, so `log` must bear that.
class HostLog {
 public:
  using OnLoading = std::function<void(uint32_t permille)>;

  // `about` is for the host's own lines; null: they go to `log`. `on_loading` may be null.
  explicit HostLog(EngineLog log, EngineLog about = nullptr, OnLoading on_loading = nullptr);
  HostLog(const HostLog&) = delete;
  HostLog& operator=(const HostLog&) = delete;
  ~HostLog();

  // What to hand to the plug-in; lives as long as this object.
  const sfl_host* abi() const { return &host_; }

  // The plug-in has made its engine, or has not.
  void EndLoading();

  // A line of the host's own about its plug-in.
  void Write(EngineLogLevel level, absl::string_view line) const;

 private:
  struct Ear;

  const std::shared_ptr<Ear> ear_;
  const EngineLog about_;
  sfl_host host_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_HOST_LOG_H_
