#ifndef SUPERFLUID_TOOLS_DECODE_DECODE_PROCESS_H_
#define SUPERFLUID_TOOLS_DECODE_DECODE_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "shm/owned_fd.h"
#include "tools/decode/decode_message.h"
#include "tools/decode/decode_summary.h"

namespace superfluid::decode {

// One decoder process, for one recording: Start, Begin, read `pcm_fd` to its end, Finish.
//
//   superfluidd, superfluidctl                       superfluid_decode (confined)
//        |--- DecodeRequest, the recording's descriptor -->|
//        |<== float, mono, 16 kHz, through a pipe =========|   blocks while the pipe is full
//        |<-- DecodeReport --------------------------------|   then it ends
//
// The process is killed with this object, and by the kernel when this process ends in any way. It
// is in a process group of its own: a terminal's Ctrl-C is the client's to handle.
//
// Threads: Kill on any; all else on one at a time. Nothing blocks but Start, for as long as a
// vfork takes, and Finish, for as long as the process takes to end.
class DecodeProcess {
 public:
  // Starts the program, which then waits for its recording: most of its start is loading libraries,
  // so a process that was started before its recording came saves that time. Errors: NotFound,
  // PermissionDenied (the program cannot be run), ResourceExhausted (descriptors, processes).
  static absl::StatusOr<std::unique_ptr<DecodeProcess>> Start(const std::string& program);
  ~DecodeProcess();
  DecodeProcess(const DecodeProcess&) = delete;
  DecodeProcess& operator=(const DecodeProcess&) = delete;

  // Hands the recording over: a file or memfd is read by position, from its beginning; a pipe as it
  // comes. `input_fd` is duplicated. REQUIRES: called once. Errors: Unavailable (the process has
  // died while it waited).
  absl::Status Begin(int input_fd, const DecodeLimits& limits = {});

  // The samples, as bytes; readable as they come, and at its end when the process is done or dead.
  // -1 after TakePcmFd.
  int pcm_fd() const { return pcm_.get(); }
  OwnedFd TakePcmFd() { return std::move(pcm_); }

  // What came of it. REQUIRES: Begin was called, and the samples were read to their end. Errors,
  // all with a text for people: InvalidArgument (no recording, a format that is not decoded, no
  // sound, damaged), ResourceExhausted (a limit), Internal (the process crashed), Unavailable (it
  // was killed from outside), Cancelled (Kill).
  absl::StatusOr<DecodeSummary> Finish();

  // Ends the process at once. The samples end then.
  void Kill();

  pid_t pid() const { return pid_; }

 private:
  DecodeProcess(pid_t pid, OwnedFd control, OwnedFd pcm, OwnedFd lifeline);
  absl::StatusOr<DecodeReport> ReceiveReport() const;
  absl::Status StatusOfDeath(int wait_status) const;

  const pid_t pid_;
  OwnedFd control_;
  OwnedFd pcm_;
  OwnedFd lifeline_;
  DecodeLimits limits_;
  std::mutex mutex_;
  bool reaped_ = false;  // guarded by mutex_: the number may be another process's by now
  bool killed_ = false;  // guarded by mutex_
};

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_DECODE_PROCESS_H_
