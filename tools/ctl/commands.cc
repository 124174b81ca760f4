#include "tools/ctl/commands.h"

#include <array>

#include "tools/ctl/drain_command.h"
#include "tools/ctl/info_command.h"
#include "tools/ctl/ping_command.h"
#include "tools/ctl/transcribe_command.h"

namespace superfluid::ctl {

absl::Span<const Command> Commands() {
  static constexpr std::array kCommands = {
      Command{"transcribe", "Turn speech into text", DefineTranscribe},
      Command{"info", "Show who the worker is and what it can do", DefineInfo},
      Command{"ping", "Ask the worker how it is", DefinePing},
      Command{"drain", "Let the worker finish what it does and take no new work", DefineDrain},
  };
  return kCommands;
}

}  // namespace superfluid::ctl
