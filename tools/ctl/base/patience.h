#ifndef SUPERFLUID_TOOLS_CTL_BASE_PATIENCE_H_
#define SUPERFLUID_TOOLS_CTL_BASE_PATIENCE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "protocol/client/link_client.h"
#include "protocol/client/reply_stream.h"
#include "protocol/messages/messages.h"

namespace superfluid::ctl {

// How long a worker is waited for: as long as it shows that it works. When it was silent for a
// while it is asked with PING; it is given up when it does not answer that either, when its engine
// failed or is stalled, or when it has had nothing to do twice in a row.
//
// Threads: one. Lifetime: `client` must outlive it.
class Patience {
 public:
  // `patience`: how long it may be silent before it is asked, and how long it may take to answer.
  // The client's call timeout should be the same.
  Patience(linkw::LinkClient& client, absl::Duration patience)
      : client_(client), patience_(patience) {}

  absl::Duration patience() const { return patience_; }

  // Asks a worker that did not answer `what` ("a tick") for `patience`. OK: wait on. Errors:
  // kDeadlineExceeded; the text says why it is given up; those of a link.
  absl::Status Ask(const std::string& what);

  // Waits for the next answer to a request. Errors: as ReplyStream::Next and Ask.
  absl::StatusOr<linkw::WorkerMessage> Next(linkw::ReplyStream& answers, const std::string& what);

  // LinkClient::Call, with this patience instead of the client's timeout.
  absl::StatusOr<linkw::StateSyncReply> Call(linkw::StateSyncCall call, const std::string& what);

 private:
  linkw::LinkClient& client_;
  const absl::Duration patience_;
  std::optional<linkw::Pong> before_;  // the last answer to PING
};

// Returns why a worker that says `pong` does not work on what it was asked for `patience` ago;
// empty: it does, or may. `before`: what it said the last time. Pure.
std::string WhyItDoesNotWork(const linkw::Pong& pong, const std::optional<linkw::Pong>& before,
                             absl::Duration patience);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_PATIENCE_H_
