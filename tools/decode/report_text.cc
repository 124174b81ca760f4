#include "tools/decode/report_text.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"

namespace superfluid::decode {
namespace {

template <size_t kBytes>
std::string Printable(const std::array<char, kBytes>& bytes) {
  const auto end = std::find_if_not(bytes.begin(), bytes.end(), [](char byte) {
    return absl::ascii_isprint(static_cast<unsigned char>(byte));
  });
  return std::string(bytes.begin(), end);
}

}  // namespace

absl::StatusOr<DecodeSummary> SummaryOf(const DecodeReport& report) {
  const std::string text = Printable(report.text);
  switch (report.outcome) {
    case DecodeOutcome::kDone:
      return DecodeSummary{.container = Printable(report.container),
                           .codec = Printable(report.codec),
                           .rate_hz = report.rate_hz,
                           .channels = report.channels,
                           .samples = report.samples,
                           .note = text};
    case DecodeOutcome::kTooLarge:
    case DecodeOutcome::kTooLong:
    case DecodeOutcome::kOutOfMemory:
      return absl::ResourceExhaustedError(text);
    case DecodeOutcome::kUnknownFormat:
    case DecodeOutcome::kRefusedFormat:
    case DecodeOutcome::kNoAudio:
    case DecodeOutcome::kRefusedCodec:
    case DecodeOutcome::kDamaged:
      return absl::InvalidArgumentError(text);
    case DecodeOutcome::kInternal:
      break;
  }
  return absl::InternalError(text.empty() ? "the decoder failed" : text);
}

}  // namespace superfluid::decode
