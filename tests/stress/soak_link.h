#ifndef SUPERFLUID_TESTS_STRESS_SOAK_LINK_H_
#define SUPERFLUID_TESTS_STRESS_SOAK_LINK_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "protocol/client/link_client.h"
#include "protocol/client/reply_stream.h"
#include "protocol/driver/driver_buffers.h"
#include "protocol/driver/driver_rings.h"
#include "protocol/driver/expect_reply.h"
#include "protocol/messages/messages.h"
#include "tests/conformance/context.h"
#include "tests/stress/tally.h"

namespace superfluid::stress {

// For one answer, whatever else the worker has to do, with sanitizers.
inline constexpr absl::Duration kPatience = absl::Seconds(180);

// How a link ends: its loads finish what they began, or leave it open.
enum class Ending { kFinish, kKill };

// A driver's link that several loads use at once, each from a thread of its own. Thread-safe, but
// for End and the destructor: no load may run then.
class SoakLink {
 public:
  // Waits for the role to be free. Errors: those of LinkClient::Connect, DriverRings::Attach and
  // DriverBuffers::Open.
  static absl::StatusOr<std::unique_ptr<SoakLink>> Open(const std::string& socket, Tally& tally);

  SoakLink(const SoakLink&) = delete;
  SoakLink& operator=(const SoakLink&) = delete;
  ~SoakLink() { End(); }

  linkw::LinkClient& client() { return *client_; }
  const conformance::Facts& facts() const { return facts_; }
  bool Has(const std::string& call) const { return facts_.Has(call); }
  // Only of an engine with ticks.
  linkw::DriverRings& rings() { return *rings_; }
  linkw::DriverBuffers& buffers() { return *buffers_; }
  Tally& tally() { return tally_; }

  // ---- The end

  // Loads begin nothing new from now on; a kill makes them leave what is open.
  void Stop(Ending ending);
  bool stopping() const { return stop_.HasBeenNotified(); }
  bool killed() const { return killed_; }
  // Lets time pass; false if the link is stopping.
  bool Pause(absl::Duration time) { return !stop_.WaitForNotificationWithTimeout(time); }
  // Closes the link, with whatever is open on it. Idempotent.
  void End();

  // ---- Requests

  // nullptr if the link is gone, which fails the run unless it was killed.
  std::unique_ptr<linkw::ReplyStream> Start(const linkw::DriverMessage& message);
  // Fails the run like Start. Returns whether it was sent.
  bool Send(const linkw::DriverMessage& message);

  // The next answer, or nullopt at `until`, and when the link was killed. No answer within
  // kPatience fails the run.
  std::optional<linkw::WorkerMessage> Await(linkw::ReplyStream& stream,
                                            absl::Time until = absl::InfiniteFuture());

  // Takes a stream whose final answer came. Another answer to it, at any later time, fails the
  // run.
  void Bury(std::unique_ptr<linkw::ReplyStream> stream);
  // Takes a stream that is open while the link is killed.
  void Leave(std::unique_ptr<linkw::ReplyStream> stream);

  // The call's reply, or its error. Errors of the link fail the run, unless it was killed.
  template <typename T>
  absl::StatusOr<T> Call(linkw::StateSyncCall call) {
    absl::StatusOr<T> reply = linkw::ExpectResult<T>(client_->Call(std::move(call)));
    if (!reply.ok()) CheckLink(reply.status());
    return reply;
  }

 private:
  SoakLink(std::unique_ptr<linkw::LinkClient> client, Tally& tally);
  void CheckLink(const absl::Status& status);
  void CheckBuried(linkw::ReplyStream& stream);

  Tally& tally_;
  std::vector<std::unique_ptr<linkw::ReplyStream>> left_ ABSL_GUARDED_BY(mutex_);
  absl::Mutex mutex_;
  std::deque<std::unique_ptr<linkw::ReplyStream>> buried_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<linkw::LinkClient> client_;
  conformance::Facts facts_;
  std::unique_ptr<linkw::DriverRings> rings_;
  std::unique_ptr<linkw::DriverBuffers> buffers_;
  std::atomic<bool> killed_{false};
  absl::Notification stop_;
};

}  // namespace superfluid::stress

#endif  // SUPERFLUID_TESTS_STRESS_SOAK_LINK_H_
