#ifndef SUPERFLUID_TOOLS_DECODE_TIMELINE_H_
#define SUPERFLUID_TOOLS_DECODE_TIMELINE_H_

#include <cstdint>

namespace superfluid::decode {

// Keeps the decoded audio in step with the recording's own clock, so that the times of a transcript
// are those of the video: says how much silence stands for audio that is not in the file (the sound
// begins after the picture, the recorder was paused). Deviations below half a second are jitter,
// those above ten minutes are broken time stamps; both are ignored. Pure.
class Timeline {
 public:
  // The seconds of silence that belong before audio stamped `stamp` seconds after the recording's
  // beginning, when `heard` seconds have been written.
  double SilenceBefore(double stamp, double heard);

 private:
  double skew_ = 0;  // what is ignored of the stamps from here on
};

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_TIMELINE_H_
