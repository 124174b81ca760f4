#include "tools/ctl/generation/tick_session.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/ctl/base/connect.h"
#include "tools/ctl/generation/vocabulary.h"

namespace superfluid::ctl {

std::variant<TickSession, Failure> OpenTickSession(const GlobalOptions& global,
                                                   const Prompt& prompt, size_t lanes) {
  ConnectResult connected = Connect(global, linkw::Role::kDriver);
  if (auto* failure = std::get_if<Failure>(&connected)) return std::move(*failure);
  TickSession session;
  session.client = std::move(std::get<std::unique_ptr<linkw::LinkClient>>(connected));
  const linkw::HelloAck& hello = session.client->hello_ack();
  std::optional<Failure> refusal = CheckPromptFor(hello, prompt.tokens, prompt.is_text);
  if (refusal.has_value()) return *std::move(refusal);
  if (lanes > hello.limits.max_lanes) {
    return Failure{.code = ExitCode::kFailed,
                   .what = absl::StrCat("this worker runs at most ", hello.limits.max_lanes,
                                        " lanes in a tick, not ", lanes),
                   .advice = "give fewer --lanes"};
  }
  absl::StatusOr<std::unique_ptr<linkw::DriverRings>> rings =
      linkw::DriverRings::Attach(*session.client);
  if (!rings.ok()) return CallFailure("rings", rings.status());
  session.rings = *std::move(rings);
  return session;
}

}  // namespace superfluid::ctl
