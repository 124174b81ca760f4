#ifndef SUPERFLUID_TOOLS_CTL_SPEECH_DECODED_AUDIO_H_
#define SUPERFLUID_TOOLS_CTL_SPEECH_DECODED_AUDIO_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/messages/messages.h"
#include "shm/owned_fd.h"
#include "tools/decode/decode_process.h"

namespace superfluid::ctl {

// What the samples of every decoded recording are.
linkw::PcmFormat DecodedFormat();

// A recording that superfluid_decode decodes, in a process that ends with this object. Threads: one
// at a time.
class DecodedAudio {
 public:
  // `fd` is read from its beginning; its first `bytes` are the recording, 0: all. Waits for the
  // first samples. `name` is for error texts. Errors: NotFound (there is no superfluid_decode), and
  // those of DecodeProcess::Finish where there is no sound at all.
  static absl::StatusOr<std::unique_ptr<DecodedAudio>> Open(int fd, uint64_t bytes,
                                                            const std::string& name);

  // The samples, to be read to their end.
  OwnedFd TakeSamples() { return process_->TakePcmFd(); }

  // How it ended. REQUIRES: the samples were read to their end. Errors: as DecodeProcess::Finish.
  absl::Status Finish();

  // What was odd about it, for people; known after Finish.
  const std::string& note() const { return note_; }

 private:
  DecodedAudio(std::unique_ptr<decode::DecodeProcess> process, std::string name);
  absl::Status Named(const absl::Status& status) const;

  std::unique_ptr<decode::DecodeProcess> process_;
  std::string name_;
  std::string note_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_SPEECH_DECODED_AUDIO_H_
