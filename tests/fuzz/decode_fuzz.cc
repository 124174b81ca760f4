#include "tests/fuzz/decode_fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "shm/owned_fd.h"
#include "tools/decode/decode_message.h"
#include "tools/decode/decode_recording.h"

namespace superfluid::fuzz {
namespace {

constexpr uint64_t kMaxSeconds = 20;
constexpr uint64_t kRateHz = 16000;

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

void FuzzDecode(std::string_view bytes) {
  const OwnedFd input(memfd_create("fuzz-input", MFD_CLOEXEC));
  const OwnedFd output(memfd_create("fuzz-output", MFD_CLOEXEC));
  Require(write(input.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const decode::DecodeReport report = decode::DecodeRecording(
      input.get(), output.get(), {.max_input_bytes = 1 << 20, .max_seconds = kMaxSeconds});
  const off_t written = lseek(output.get(), 0, SEEK_END);
  Require(static_cast<uint32_t>(report.outcome) < decode::kDecodeOutcomes);
  Require(static_cast<uint64_t>(written) == report.samples * sizeof(float));
  Require(report.samples <= kMaxSeconds * kRateHz);
  const bool done = report.outcome == decode::DecodeOutcome::kDone;
  Require(done ? report.samples > 0 : report.text[0] != '\0');
}

}  // namespace superfluid::fuzz
