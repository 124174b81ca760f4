#include "tools/ctl/commands/info_command.h"

#include <memory>
#include <utility>

#include "tools/ctl/base/connect.h"
#include "tools/ctl/formats/worker_text.h"

namespace superfluid::ctl {
namespace {

struct InfoOptions {
  bool json = false;
};

ExitCode RunInfo(const InfoOptions& options, const CommandContext& context) {
  ConnectResult connected = Connect(context.global, linkw::Role::kObserver);
  if (const auto* failure = std::get_if<Failure>(&connected)) return context.Fail(*failure);
  const linkw::HelloAck& hello =
      std::get<std::unique_ptr<linkw::LinkClient>>(connected)->hello_ack();
  return context.Print(options.json ? JsonDocument(InfoJson(hello)) : InfoText(hello));
}

}  // namespace

CommandBody DefineInfo(CLI::App& app) {
  auto options = std::make_shared<InfoOptions>();
  app.add_flag("--json", options->json, "Print one JSON object");
  app.footer("Works while another client drives the worker.\n");
  return [options](const CommandContext& context) { return RunInfo(*options, context); };
}

}  // namespace superfluid::ctl
