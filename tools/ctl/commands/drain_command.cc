#include "tools/ctl/commands/drain_command.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "tools/ctl/base/connect.h"
#include "tools/ctl/base/time_option.h"
#include "tools/ctl/formats/json_text.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {
namespace {

struct DrainOptions {
  linkw::DrainRequest request;
  bool json = false;
};

std::string DrainedText(const linkw::Drained& drained) {
  return absl::StrCat("drained: ", CountText(drained.finished, "request"), " finished, ",
                      drained.cancelled, " cancelled; the worker ends\n");
}

Json DrainedJson(const linkw::Drained& drained) {
  return {{"finished", drained.finished}, {"cancelled", drained.cancelled}};
}

ExitCode RunDrain(const DrainOptions& options, const CommandContext& context) {
  ConnectResult connected = Connect(context.global, linkw::Role::kObserver);
  if (const auto* failure = std::get_if<Failure>(&connected)) return context.Fail(*failure);
  auto& client = *std::get<std::unique_ptr<linkw::LinkClient>>(connected);
  const absl::StatusOr<linkw::Drained> drained = client.Drain(options.request);
  if (!drained.ok()) return context.Fail(CallFailure("drain", drained.status()));
  return context.Print(options.json ? JsonLine(DrainedJson(*drained)) : DrainedText(*drained));
}

}  // namespace

CommandBody DefineDrain(CLI::App& app) {
  auto options = std::make_shared<DrainOptions>();
  linkw::DrainRequest* request = &options->request;
  request->shut_down = true;
  app.add_flag("--cancel", options->request.cancel_transcriptions,
               "Cancel transcriptions at once instead of finishing them");
  AddMsOption(app, "--deadline", "Cancel what is still open after this time", {.min = 1},
              [request](uint32_t ms) { request->deadline_ms = ms; });
  app.add_flag("--json", options->json, "Print one JSON object");
  app.footer(
      "The worker ends with it: it takes no new work, of no client, finishes what is open, and\n"
      "exits. Works while another client drives the worker. Waits until nothing is open any more,\n"
      "for ever without --deadline, and counts the requests of all clients. Ctrl-C ends the "
      "waiting\n"
      "only: the worker goes on to its end.\n");
  return [options](const CommandContext& context) { return RunDrain(*options, context); };
}

}  // namespace superfluid::ctl
