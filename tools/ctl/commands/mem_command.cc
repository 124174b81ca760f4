#include "tools/ctl/commands/mem_command.h"

#include <memory>
#include <variant>

#include "tools/ctl/base/connect.h"
#include "tools/ctl/formats/worker_text.h"

namespace superfluid::ctl {
namespace {

struct MemOptions {
  bool json = false;
};

ExitCode RunMem(const MemOptions& options, const CommandContext& context) {
  ConnectResult connected = Connect(context.global, linkw::Role::kObserver);
  if (const auto* failure = std::get_if<Failure>(&connected)) return context.Fail(*failure);
  auto& client = *std::get<std::unique_ptr<linkw::LinkClient>>(connected);
  const absl::StatusOr<linkw::Pong> pong = client.Ping();
  if (!pong.ok()) return context.Fail(CallFailure("mem", pong.status()));
  return context.Print(options.json ? JsonLine(MemoryJson(pong->mem)) : MemoryText(pong->mem));
}

}  // namespace

CommandBody DefineMem(CLI::App& app) {
  auto options = std::make_shared<MemOptions>();
  app.add_flag("--json", options->json, "Print one JSON object, sizes in bytes");
  app.footer(
      "Works while another client drives the worker.\n"
      "\n"
      "  allocated      all that the engine has of its accelerator\n"
      "  host retained  what it keeps in the host's memory\n"
      "  pool blocks    of the cache of sequences and prefixes\n"
      "  evictable      of those, what nobody uses: CACHE_EVICT would free it\n"
      "  tentative      reserved for work that is not certain yet, such as drafts\n");
  return [options](const CommandContext& context) { return RunMem(*options, context); };
}

}  // namespace superfluid::ctl
