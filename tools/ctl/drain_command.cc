#include "tools/ctl/drain_command.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "tools/ctl/connect.h"
#include "tools/ctl/json_text.h"

namespace superfluid::ctl {
namespace {

struct DrainOptions {
  linkw::DrainRequest request;
  bool json = false;
};

std::string DrainedText(const linkw::Drained& drained) {
  return absl::StrCat("drained: ", drained.finished, " requests finished, ", drained.cancelled,
                      " cancelled; the worker takes no new work\n");
}

Json DrainedJson(const linkw::Drained& drained) {
  return {{"finished", drained.finished}, {"cancelled", drained.cancelled}};
}

ExitCode RunDrain(const DrainOptions& options, const CommandContext& context) {
  ConnectResult connected = Connect(context.global, linkw::Role::kDriver);
  if (const auto* failure = std::get_if<Failure>(&connected)) return context.Fail(*failure);
  auto& client = *std::get<std::unique_ptr<linkw::LinkClient>>(connected);
  const absl::StatusOr<linkw::Drained> drained = client.Drain(options.request);
  if (!drained.ok()) return context.Fail(CallFailure("drain", drained.status()));
  return context.Print(options.json ? JsonLine(DrainedJson(*drained)) : DrainedText(*drained));
}

}  // namespace

CommandBody DefineDrain(CLI::App& app) {
  auto options = std::make_shared<DrainOptions>();
  app.add_flag("--cancel", options->request.cancel_transcriptions,
               "Cancel transcriptions instead of finishing them");
  app.add_option("--deadline", options->request.deadline_ms,
                 "Cancel what is still open after this many ms");
  app.add_flag("--json", options->json, "Print one JSON object");
  app.footer("Waits until nothing is open any more; for ever without --deadline.\n");
  return [options](const CommandContext& context) { return RunDrain(*options, context); };
}

}  // namespace superfluid::ctl
