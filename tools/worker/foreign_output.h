#ifndef SUPERFLUID_TOOLS_WORKER_FOREIGN_OUTPUT_H_
#define SUPERFLUID_TOOLS_WORKER_FOREIGN_OUTPUT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "shm/owned_fd.h"

namespace superfluid {

// What libraries print: descriptors become the end of a pipe that a thread of its own always reads,
// so whoever prints there never waits for the reader of the log.
//
// A line that is not ended within a moment, or is too long, is taken as it is.
class ForeignOutput {
 public:
  using OnLine = std::function<void(std::string_view line)>;  // without its newline; must not wait

  // Replaces `descriptors`. Errors: Internal (the system refuses a pipe or a thread; the
  // descriptors are as they were).
  static absl::StatusOr<std::unique_ptr<ForeignOutput>> Start(absl::Span<const int> descriptors,
                                                              OnLine on_line);
  // Blocks until all that was printed is handed on. REQUIRES: the descriptors are closed.
  ~ForeignOutput();
  ForeignOutput(const ForeignOutput&) = delete;
  ForeignOutput& operator=(const ForeignOutput&) = delete;

  // Whether all that was printed is handed on. A signal handler may ask.
  bool idle() const noexcept;

 private:
  ForeignOutput(OwnedFd pipe, OnLine on_line);

  void Run();
  // Reads once; false at the end of the pipe.
  bool ReadSome();
  void EndLine();

  OwnedFd pipe_;
  OnLine on_line_;
  std::string line_;                // not ended yet
  std::atomic<bool> busy_ = false;  // bytes are read and not handed on
  std::thread thread_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_FOREIGN_OUTPUT_H_
