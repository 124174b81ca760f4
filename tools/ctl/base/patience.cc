#include "tools/ctl/base/patience.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/driver/expect_reply.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/status.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {

std::string WhyItDoesNotWork(const linkw::Pong& pong, const std::optional<linkw::Pong>& before,
                             absl::Duration patience) {
  const absl::Duration step_age = absl::Microseconds(pong.step_age_us);
  if (pong.engine_state == linkw::EngineState::kFailed) return "its engine failed";
  // One that entered the step a moment ago went on in the time that we waited.
  if (pong.engine_state == linkw::EngineState::kStalled && step_age >= patience / 2) {
    return absl::StrCat("its engine is stalled, in one step for ", DurationText(step_age));
  }
  const bool at_rest = pong.step_age_us == 0 && pong.open_ops == 0 &&
                       pong.engine_state != linkw::EngineState::kBusy &&
                       pong.engine_state != linkw::EngineState::kLoading;
  if (at_rest && before.has_value() && before->engine_steps == pong.engine_steps) {
    return "it has nothing to do";
  }
  return "";
}

absl::Status Patience::Ask(const std::string& what) {
  const absl::StatusOr<linkw::Pong> pong = client_.Ping();
  std::string why = "it does not answer PING either";
  if (pong.ok()) {
    why = WhyItDoesNotWork(*pong, before_, patience_);
    before_ = *pong;
  } else if (!absl::IsDeadlineExceeded(pong.status())) {
    return pong.status();
  }
  if (why.empty()) return absl::OkStatus();
  return linkw::MakeStatus(linkw::Status::kDeadlineExceeded,
                           absl::StrCat("the worker did not answer ", what, " within ",
                                        DurationText(patience_), ", and ", why));
}

absl::StatusOr<linkw::WorkerMessage> Patience::Next(linkw::ReplyStream& answers,
                                                    const std::string& what) {
  before_.reset();
  while (true) {
    absl::StatusOr<linkw::WorkerMessage> answer = answers.Next(linkw::Deadline::After(patience_));
    if (!absl::IsDeadlineExceeded(answer.status())) return answer;
    if (absl::Status works = Ask(what); !works.ok()) return works;
  }
}

absl::StatusOr<linkw::StateSyncReply> Patience::Call(linkw::StateSyncCall call,
                                                     const std::string& what) {
  const absl::StatusOr<std::unique_ptr<linkw::ReplyStream>> answers =
      client_.Start(linkw::StateSyncRequest{std::move(call)});
  if (!answers.ok()) return answers.status();
  absl::StatusOr<linkw::StateSyncResult> result =
      linkw::ExpectReply<linkw::StateSyncResult>(Next(**answers, what));
  if (!result.ok()) return result.status();
  if (result->status != linkw::Status::kOk) {
    return linkw::MakeStatus(result->status, result->message);
  }
  return std::move(result->reply);
}

}  // namespace superfluid::ctl
