#include "tools/ctl/commands/commands.h"

#include <array>

#include "tools/ctl/commands/drain_command.h"
#include "tools/ctl/commands/generate_command.h"
#include "tools/ctl/commands/info_command.h"
#include "tools/ctl/commands/mem_command.h"
#include "tools/ctl/commands/metrics_command.h"
#include "tools/ctl/commands/ping_command.h"
#include "tools/ctl/commands/restore_command.h"
#include "tools/ctl/commands/snapshot_command.h"
#include "tools/ctl/commands/top_command.h"
#include "tools/ctl/commands/transcribe_command.h"

namespace superfluid::ctl {

absl::Span<const Command> Commands() {
  static constexpr std::array kCommands = {
      Command{"transcribe", "Turn speech into text", DefineTranscribe},
      Command{"generate", "Let the engine continue a prompt, token by token", DefineGenerate},
      Command{"snapshot", "Feed a prompt and save the sequence's state to a file", DefineSnapshot},
      Command{"restore", "Go on from a saved state", DefineRestore},
      Command{"info", "Show who the worker is and what it can do", DefineInfo},
      Command{"ping", "Ask the worker how it is", DefinePing},
      Command{"mem", "Show the worker's memory counters", DefineMem},
      Command{"metrics", "Print the worker's figures for a monitoring system", DefineMetrics},
      Command{"top", "Watch what the worker does", DefineTop},
      Command{"drain", "Let the worker finish what it does, then end", DefineDrain},
  };
  return kCommands;
}

}  // namespace superfluid::ctl
