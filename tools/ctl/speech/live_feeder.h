#ifndef SUPERFLUID_TOOLS_CTL_SPEECH_LIVE_FEEDER_H_
#define SUPERFLUID_TOOLS_CTL_SPEECH_LIVE_FEEDER_H_

#include <functional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "shm/owned_fd.h"
#include "tools/ctl/speech/pcm_reader.h"

namespace superfluid::ctl {

// Takes samples to somebody who wants them as they are spoken: `end` on the last call, with no
// samples. May block.
using PushSamples = std::function<absl::Status(std::string samples, bool end)>;

// How far ahead of what they have consumed samples are pushed. An engine refuses more than 30 s.
inline constexpr absl::Duration kMaxLiveLead = absl::Seconds(15);

// Feeds live audio from a reader, on a thread of its own, until the reader's end, an error or the
// destructor. Lifetime: `reader` must outlive it.
class LiveFeeder {
 public:
  // `speed`: times real time; 0: as fast as they can be read and pushed. `consumed`: how much audio
  // has been consumed of what was pushed; feeding waits while it is kMaxLiveLead behind. Called on
  // the feeder's thread. `on_error` is called at most once, there too, if the reader fails; if
  // `push` fails, feeding just ends: the link says why.
  LiveFeeder(PcmReader& reader, double speed, PushSamples push,
             std::function<absl::Duration()> consumed,
             std::function<void(const absl::Status&)> on_error);
  LiveFeeder(const LiveFeeder&) = delete;
  LiveFeeder& operator=(const LiveFeeder&) = delete;
  ~LiveFeeder();  // waits for a push that is on its way

 private:
  void Feed();
  absl::Duration LengthOf(uint64_t bytes) const;
  bool WaitUntilSpoken(uint64_t bytes) const;
  bool WaitUntilWanted(uint64_t bytes) const;
  bool Wait(absl::Duration duration) const;

  PcmReader& reader_;
  const double speed_;
  const PushSamples push_;
  const std::function<absl::Duration()> consumed_;
  const std::function<void(const absl::Status&)> on_error_;
  const absl::Duration start_;
  OwnedFd stop_;
  std::thread thread_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_SPEECH_LIVE_FEEDER_H_
