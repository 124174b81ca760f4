#ifndef SUPERFLUID_TOOLS_CTL_TERMINAL_PROGRESS_BAR_H_
#define SUPERFLUID_TOOLS_CTL_TERMINAL_PROGRESS_BAR_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace superfluid::ctl {

struct Progress {
  int64_t audio_ms = 0;        // decoded
  int64_t audio_total_ms = 0;  // 0: not known, as for live audio
  absl::Duration elapsed;
  std::string hypothesis;  // the text of a partial segment
};

// One line of at most `columns` columns, without control characters:
//
//    45% [===========>             ] 0:12.3 / 0:27.4  3.1x  and then he
//
// Without a known total there is no bar. Before anything is known of the audio there is the time
// that has passed, and a mark that moves with it:
//
//    [         <=>                 ] 1.2 s, no text yet
//
// What does not fit is left out, the hypothesis first, then the bar. Pure.
std::string RenderProgress(const Progress& progress, size_t columns);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_TERMINAL_PROGRESS_BAR_H_
