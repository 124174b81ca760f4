#ifndef SUPERFLUID_ENGINE_SDK_HOST_VIEWS_H_
#define SUPERFLUID_ENGINE_SDK_HOST_VIEWS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/abi/sized_struct.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/audio/audio_source.h"
#include "engine/call_control.h"
#include "engine/cancel_token.h"
#include "engine/engine.h"
#include "engine/tick.h"
#include "engine/transcription.h"

namespace superfluid::sdk {

// How a C++ engine in a plug-in sees what the host passed through the C interface.
// Threads and lifetimes: those of the C structs, which are copied as far as their struct_size says;
// a function that a host lacks does nothing, but for the intake of segments (UNIMPLEMENTED).

class HostAudio : public AudioSource {
 public:
  // Takes as much of `audio` as its struct_size says.
  explicit HostAudio(const sfl_audio& audio);

  // Errors: the host's.
  absl::StatusOr<Block> Read(absl::Span<float> out) override;
  std::optional<absl::Duration> TotalDuration() const override;
  bool IsLive() const override;

 private:
  sfl_audio audio_ = {};
};

// Remembers the first segment that the host refused; the step must fail with it.
class HostSink : public SegmentSink {
 public:
  explicit HostSink(const sfl_step& step) : step_(step) {}

  void OnSegment(TranscribedSegment segment) override;
  const absl::Status& status() const { return status_; }

 private:
  const sfl_step step_;
  absl::Status status_;
};

// The stops and emits of a tick. Remembers the first emit that the host refused; the tick must fail
// with it.
class HostTick : public TickHost {
 public:
  explicit HostTick(const sfl_tick& tick) : tick_(tick) {}

  bool LaneStopped(size_t lane) override;
  void Emit(size_t lane, absl::Span<const Token> tokens) override;
  const absl::Status& status() const { return status_; }

 private:
  const sfl_tick tick_;
  absl::Status status_;
};

// For CancelToken's constructor, with a `const sfl_step*`, `const sfl_state_step*`,
// `const sfl_tick*` or `const sfl_call*` as the context.
CancelReason PollHostCancel(void* step) noexcept;
CancelReason PollStateCancel(void* step) noexcept;
CancelReason PollTickCancel(void* tick) noexcept;
CancelReason PollCallCancel(void* call) noexcept;

// The control of a call that may take long.
class HostCall {
 public:
  explicit HostCall(const sfl_call& call)
      : call_(CopyIn(&call)), token_(&PollCallCancel, &call_), control_(token_, [this] {
          if (call_.progress != nullptr) call_.progress(call_.user);
        }) {}
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;
  ~HostCall() = default;

  const CallControl& control() const { return control_; }

 private:
  sfl_call call_;
  const CancelToken token_;
  const CallControl control_;
};

// The host's log; empty if it has none.
EngineLog HostLogger(const sfl_host& host);
// Whom the host wants told how much is loaded; null if it does not.
std::function<void(uint32_t permille)> HostLoading(const sfl_host& host);

}  // namespace superfluid::sdk

#endif  // SUPERFLUID_ENGINE_SDK_HOST_VIEWS_H_
