#include "tools/superfluidd/fleet/upload_decoder.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"
#include "tools/decode/foreign_recording.h"

namespace superfluid::daemon {
namespace {

constexpr size_t kSpareDecoders = 1;
constexpr uint32_t kRateHz = 16000;
constexpr uint64_t kBytesPerSecond = kRateHz * sizeof(float);
constexpr uint64_t kLongestSeconds = uint64_t{24} * 3600;
// About what a decoder takes beside the libraries, which all of them share.
constexpr uint64_t kProcessBytes = uint64_t{32} << 20;

decode::DecodeLimits LimitsOf(const UploadBudget& budget, UploadDecoder::Share share,
                              const AudioBody& recording) {
  constexpr uint64_t kHalf = 2;
  constexpr uint64_t kEighth = 8;
  const uint64_t bytes = budget.limit() / (share == UploadDecoder::Share::kAhead ? kEighth : kHalf);
  decode::DecodeLimits limits;
  limits.max_seconds = std::clamp<uint64_t>(bytes / kBytesPerSecond, 1, kLongestSeconds);
  limits.input_bytes = recording.size();
  return limits;
}

linkw::Status MeaningOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return linkw::Status::kInvalidArgument;
    case absl::StatusCode::kResourceExhausted:
      return linkw::Status::kTooLarge;
    case absl::StatusCode::kUnavailable:
      return linkw::Status::kLinkClosed;
    default:
      return linkw::Status::kInternal;
  }
}

absl::Status Refusal(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kDataLoss) {  // as Push marked it
    return linkw::MakeStatus(linkw::Status::kOutOfMemory, std::string(status.message()));
  }
  return linkw::MakeStatus(MeaningOf(status),
                           absl::StrCat("the recording cannot be decoded: ", status.message()));
}

}  // namespace

UploadDecoder::UploadDecoder(std::string program, std::shared_ptr<UploadBudget> budget)
    : budget_(std::move(budget)),
      has_program_(!program.empty()),
      pool_(std::move(program), kSpareDecoders) {}

bool UploadDecoder::IsFor(const AudioBody& recording) {
  return decode::IsForeignRecording(recording.begin());
}

linkw::PcmFormat UploadDecoder::Format() {
  return {.sample_rate_hz = kRateHz, .channels = 1, .sample_format = linkw::SampleFormat::kF32};
}

absl::StatusOr<std::unique_ptr<UploadDecode>> UploadDecode::Start(
    std::shared_ptr<UploadDecoder> decoder, const AudioBody& recording, UploadDecoder::Share share,
    Done done) {
  if (!decoder->has_program_) {
    return linkw::MakeStatus(linkw::Status::kUnsupported,
                             "recordings of this kind are not decoded here: the server has no "
                             "superfluid_decode");
  }
  absl::StatusOr<OwnedFd> fd = recording.SealedFd();
  if (!fd.ok()) {
    return linkw::MakeStatus(linkw::Status::kOutOfMemory, std::string(fd.status().message()));
  }
  const decode::DecodeLimits limits = LimitsOf(*decoder->budget_, share, recording);
  return absl::WrapUnique(
      new UploadDecode(std::move(decoder), *std::move(fd), limits, std::move(done)));
}

UploadDecode::UploadDecode(std::shared_ptr<UploadDecoder> decoder, OwnedFd recording,
                           const decode::DecodeLimits& limits, Done done)
    : decoder_(std::move(decoder)),
      done_(std::move(done)),
      process_(decoder_->budget_),
      samples_(std::make_shared<AudioBody>(decoder_->budget_)),
      feed_(decoder_->pool_, std::move(recording), limits,
            {.push =
                 [this](std::string_view samples) {
                   const absl::Status status = samples_->Append(samples);
                   return status.ok() ? status : absl::DataLossError(status.message());
                 },
             .ended =
                 [this](const absl::StatusOr<decode::DecodeSummary>& outcome) {
                   OnEnded(outcome);
                 }}) {
  process_.GrowAnyway(kProcessBytes);
}

void UploadDecode::OnEnded(const absl::StatusOr<decode::DecodeSummary>& outcome) {
  if (!outcome.ok()) return done_(Refusal(outcome.status()));
  done_(DecodedUpload{.samples = std::move(samples_), .note = outcome->note});
}

}  // namespace superfluid::daemon
