#ifndef SUPERFLUID_ENGINE_ABI_JOB_PORT_H_
#define SUPERFLUID_ENGINE_ABI_JOB_PORT_H_

#include <cstdint>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/abi/cancel_gate.h"
#include "engine/abi/segment_intake.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/audio/audio_source.h"
#include "engine/cancel_token.h"
#include "engine/transcription.h"

namespace superfluid {

// The host's side of one transcription, as its plug-in can reach it: audio in, segments out, cancel
// state. It answers only while a call into the plug-in is open, and expects anything.
//
// Threads: `Cancelled` any thread; the rest the thread that made the port, which Read and Emit
// check.
class JobPort {
 public:
  explicit JobPort(std::unique_ptr<AudioSource> audio);

  // Opens the port for one call into the plug-in; null `token` and `sink` for a call that has none.
  // Both must stay valid until CloseCall, which waits for a Cancelled in progress.
  void OpenCall(const CancelToken* token, SegmentSink* sink);
  void CloseCall();

  // Lets go of the audio; Read fails from now on.
  void DropAudio() { audio_.reset(); }

  // Errors: FailedPrecondition (no call open, a foreign thread), InvalidArgument (null `out`), or
  // the source's.
  absl::StatusOr<AudioSource::Block> Read(float* out, size_t capacity);

  // Errors: FailedPrecondition (as above, or a call without a sink), ResourceExhausted (more than
  // SFL_MAX_SEGMENTS_PER_STEP in this call), InvalidArgument (see SegmentIntake), or the failure
  // of the sink, an exception included.
  absl::Status Emit(const sfl_segment* segment);

  // kRequested if no call is open: whoever still asks should stop.
  CancelReason Cancelled() const { return gate_.Reason(); }
  // Whether it was asked during the open or last call.
  bool asked_whether_cancelled() const { return gate_.asked(); }

  // The first failure of the host itself during the open or last call: the plug-in may have
  // swallowed it.
  const absl::Status& host_failure() const { return host_failure_; }
  uint64_t segments_repaired() const { return intake_.repaired(); }
  int64_t audio_total_us() const;
  uint32_t audio_flags() const;

 private:
  absl::Status CheckCall() const;
  absl::Status Deliver(TranscribedSegment segment);

  const std::thread::id thread_;
  std::unique_ptr<AudioSource> audio_;
  SegmentIntake intake_;
  uint64_t frames_read_ = 0;
  int emits_in_call_ = 0;
  SegmentSink* sink_ = nullptr;
  absl::Status host_failure_;
  CancelGate gate_;
};

// A port known to the plug-in by a handle, for as long as this object lives. The callbacks find it
// by the handle, so that one called too late does no harm.
class RegisteredPort {
 public:
  explicit RegisteredPort(std::unique_ptr<AudioSource> audio);
  RegisteredPort(const RegisteredPort&) = delete;
  RegisteredPort& operator=(const RegisteredPort&) = delete;
  ~RegisteredPort();

  JobPort& port() { return *port_; }
  const JobPort& port() const { return *port_; }

  // What to hand to the plug-in.
  sfl_audio AbiAudio() const;
  sfl_step AbiStep(const StepBudget& budget) const;

 private:
  std::shared_ptr<JobPort> port_;
  void* handle_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_JOB_PORT_H_
