#ifndef SUPERFLUID_TOOLS_BENCH_TICK_CONTESTANTS_H_
#define SUPERFLUID_TOOLS_BENCH_TICK_CONTESTANTS_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/client/link_client.h"
#include "protocol/driver/driver_rings.h"
#include "protocol/messages/tick_messages.h"
#include "tools/bench/turns.h"
#include "tools/bench/wire_client.h"

namespace superfluid::bench {

// A tick of `lanes` lanes that make a sequence each and draw one token, with a sampling as daemons
// ask for it.
linkw::TickSubmit FirstTick(size_t lanes);
// The tick after it: the same lanes go on. Internal if a lane of `result` failed.
absl::StatusOr<linkw::TickSubmit> NextTick(linkw::TickSubmit tick, const linkw::TickResult& result);
// An error if a tick did not end as it should.
absl::Status CheckResult(const absl::StatusOr<linkw::WorkerMessage>& answer);

// Ticks whose bytes were made before: what the server alone takes. Of a worker or of the classic
// loop.
class WireTick : public Contestant {
 public:
  // The client must outlive it.
  static absl::StatusOr<std::unique_ptr<WireTick>> Make(std::string name, WireClient& client,
                                                        size_t lanes);
  std::string name() const override { return name_; }
  absl::Status RoundTrip() override;

  size_t submit_bytes() const { return linkw::kFrameHeaderBytes + payload_.size(); }
  size_t result_bytes() const { return client_.last_frame_bytes(); }

 private:
  WireTick(std::string name, WireClient& client, std::string payload)
      : name_(std::move(name)), client_(client), payload_(std::move(payload)) {}
  const std::string name_;
  WireClient& client_;
  const std::string payload_;
};

// Ticks that are encoded, and results that are decoded, as a daemon does it.
class CodecTick : public Contestant {
 public:
  // The client must outlive it.
  static absl::StatusOr<std::unique_ptr<CodecTick>> Make(std::string name, WireClient& client,
                                                         size_t lanes);
  std::string name() const override { return name_; }
  absl::Status RoundTrip() override;

 private:
  CodecTick(std::string name, WireClient& client, linkw::TickSubmit tick)
      : name_(std::move(name)), client_(client), tick_(std::move(tick)) {}
  const std::string name_;
  WireClient& client_;
  const linkw::DriverMessage tick_;
};

// The same through the client library, which reads with a thread of its own.
class LibraryTick : public Contestant {
 public:
  static absl::StatusOr<std::unique_ptr<LibraryTick>> Make(std::string name,
                                                           const std::string& socket, size_t lanes);
  std::string name() const override { return name_; }
  absl::Status RoundTrip() override { return CheckResult(client_->Request(tick_)); }

 private:
  const std::string name_;
  std::unique_ptr<linkw::LinkClient> client_;
  std::unique_ptr<linkw::DriverRings> rings_;
  linkw::DriverMessage tick_;

  explicit LibraryTick(std::string name) : name_(std::move(name)) {}
};

class PingContestant : public Contestant {
 public:
  // The client must outlive it.
  PingContestant(std::string name, WireClient& client) : name_(std::move(name)), client_(client) {}
  std::string name() const override { return name_; }
  absl::Status RoundTrip() override { return client_.Ping(); }

 private:
  const std::string name_;
  WireClient& client_;
};

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_TICK_CONTESTANTS_H_
