#include "engine/abi/job_port.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "engine/abi/handle_table.h"
#include "engine/abi/status_codes.h"

namespace superfluid {
namespace {

HandleTable<JobPort>& Ports() {
  // Never destroyed: a plug-in's stray thread may ask until the very end of the process.
  // NOLINTNEXTLINE(*-avoid-non-const-global-variables)
  static auto* const kTable = new HandleTable<JobPort>();
  return *kTable;
}

absl::Status NoSuchJob() {
  return absl::FailedPreconditionError("a callback's `user` is not that of a transcription");
}

uint32_t AbiAudioState(AudioSource::State state) {
  switch (state) {
    case AudioSource::State::kMore:
      return SFL_AUDIO_MORE;
    case AudioSource::State::kStarved:
      return SFL_AUDIO_STARVED;
    case AudioSource::State::kEnd:
      break;
  }
  return SFL_AUDIO_END;
}

// The callbacks proper. `noexcept` because what calls them is C.

sfl_status ReadAudio(void* user, float* out, size_t capacity, sfl_audio_block* block,
                     sfl_error* error) noexcept {
  try {
    if (block == nullptr) {
      return StatusToAbi(absl::InvalidArgumentError("audio read: `block` is NULL"), error);
    }
    const std::shared_ptr<JobPort> port = Ports().Find(user);
    if (port == nullptr) return StatusToAbi(NoSuchJob(), error);
    const absl::StatusOr<AudioSource::Block> read = port->Read(out, capacity);
    if (!read.ok()) return StatusToAbi(read.status(), error);
    *block = {read->frames, AbiAudioState(read->state), 0};
    return SFL_OK;
  } catch (...) {
    return StatusToAbi(StatusFromCurrentException("the host's audio"), error);
  }
}

uint32_t AskCancelled(void* user) noexcept {
  try {
    const std::shared_ptr<JobPort> port = Ports().Find(user);
    return static_cast<uint32_t>(port == nullptr ? CancelReason::kRequested : port->Cancelled());
  } catch (...) {
    return static_cast<uint32_t>(CancelReason::kRequested);
  }
}

sfl_status EmitSegment(void* user, const sfl_segment* segment, sfl_error* error) noexcept {
  try {
    const std::shared_ptr<JobPort> port = Ports().Find(user);
    return StatusToAbi(port == nullptr ? NoSuchJob() : port->Emit(segment), error);
  } catch (...) {
    return StatusToAbi(StatusFromCurrentException("the host"), error);
  }
}

}  // namespace

JobPort::JobPort(std::unique_ptr<AudioSource> audio)
    : thread_(std::this_thread::get_id()), audio_(std::move(audio)) {}

void JobPort::OpenCall(const CancelToken* token, SegmentSink* sink) {
  sink_ = sink;
  emits_in_call_ = 0;
  host_failure_ = absl::OkStatus();
  gate_.Open(token);
}

void JobPort::CloseCall() {
  sink_ = nullptr;
  gate_.Close();
}

absl::Status JobPort::CheckCall() const {
  // The thread first: the rest may be looked at by the engine's thread only.
  if (std::this_thread::get_id() != thread_) {
    return absl::FailedPreconditionError("a callback was called on another thread than the call");
  }
  if (!gate_.open())
    return absl::FailedPreconditionError("a callback was called after its call ended");
  return absl::OkStatus();
}

absl::StatusOr<AudioSource::Block> JobPort::Read(float* out, size_t capacity) {
  if (absl::Status status = CheckCall(); !status.ok()) return status;
  if (out == nullptr) return absl::InvalidArgumentError("audio read: `out` is NULL");
  if (audio_ == nullptr) return absl::FailedPreconditionError("the audio is gone");
  const size_t limit = std::min(capacity, SFL_MAX_READ_FRAMES);
  absl::StatusOr<AudioSource::Block> block = audio_->Read(absl::MakeSpan(out, limit));
  if (!block.ok()) return block;
  block->frames = std::min(block->frames, limit);
  frames_read_ += block->frames;
  return block;
}

absl::Status JobPort::Deliver(TranscribedSegment segment) {
  try {
    sink_->OnSegment(std::move(segment));
    return absl::OkStatus();
  } catch (...) {
    return StatusFromCurrentException("the receiver of segments");
  }
}

absl::Status JobPort::Emit(const sfl_segment* segment) {
  if (absl::Status status = CheckCall(); !status.ok()) return status;
  if (sink_ == nullptr) return absl::FailedPreconditionError("no segments in this call");
  if (emits_in_call_ >= SFL_MAX_SEGMENTS_PER_STEP) {
    return absl::ResourceExhaustedError("too many segments in one step");
  }
  ++emits_in_call_;
  const auto rate = static_cast<uint64_t>(kEngineSampleRateHz);
  const auto audio_ms = static_cast<int64_t>((frames_read_ * 1000 + rate - 1) / rate);
  absl::StatusOr<TranscribedSegment> taken = intake_.Take(segment, audio_ms);
  if (!taken.ok()) return taken.status();
  absl::Status delivered = Deliver(*std::move(taken));
  if (!delivered.ok() && host_failure_.ok()) host_failure_ = delivered;
  return delivered;
}

int64_t JobPort::audio_total_us() const {
  const std::optional<absl::Duration> total = audio_->TotalDuration();
  return total.has_value() ? absl::ToInt64Microseconds(*total) : -1;
}

uint32_t JobPort::audio_flags() const { return audio_->IsLive() ? uint32_t{SFL_AUDIO_LIVE} : 0U; }

RegisteredPort::RegisteredPort(std::unique_ptr<AudioSource> audio)
    : port_(std::make_shared<JobPort>(std::move(audio))), handle_(Ports().Add(port_)) {}

RegisteredPort::~RegisteredPort() {
  Ports().Remove(handle_);
  // A stray thread may hold the port for a moment longer; the audio goes now, on this thread.
  port_->DropAudio();
}

sfl_audio RegisteredPort::AbiAudio() const {
  return {sizeof(sfl_audio),
          static_cast<uint32_t>(kEngineSampleRateHz),
          port_->audio_total_us(),
          handle_,
          &ReadAudio,
          port_->audio_flags(),
          0};
}

sfl_step RegisteredPort::AbiStep(const StepBudget& budget) const {
  return {sizeof(sfl_step), 0,           absl::ToInt64Microseconds(budget.target), handle_,
          &AskCancelled,    &EmitSegment};
}

}  // namespace superfluid
