#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_DISPATCH_QUEUE_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_DISPATCH_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace superfluid::daemon {

// Numbers of requests within the daemon; never used twice.
enum class RequestNumber : uint64_t {};

// A request that waits for a worker.
struct WaitingRequest {
  RequestNumber number{};
  std::string tenant;
  std::string model;
  double cost = 0;          // seconds of audio, about
  int priority = 0;         // higher first
  int64_t deadline_ns = 0;  // monotonic; 0: none
};

// Who is served next. A plain class; threads: one.
//
// 1. Higher priority goes first.
// 2. Among equals the tenant goes first that was charged least: each is charged the cost of what it
//    was given. A tenant that comes back has no credit for the time that it was away.
// 3. Within a tenant an earlier deadline goes first, then the least audio, then the oldest.
// 4. A request that was overtaken kMaxOvertaken times by others of its tenant and priority goes
//    before them, so that short ones cannot starve a long one.
// 5. What was taken and comes back (AddAgain) goes first of all, and is not charged twice.
class DispatchQueue {
 public:
  static constexpr uint32_t kMaxOvertaken = 16;

  struct Limits {
    size_t waiting = 256;
    size_t waiting_of_tenant = 256;
  };

  explicit DispatchQueue(const Limits& limits) : limits_(limits) {}

  // Returns false if there is no room for it.
  bool Add(WaitingRequest request);
  // Adds a request that was taken and had no luck. There is always room.
  void AddAgain(WaitingRequest request);

  // Returns false if it does not wait here.
  bool Remove(RequestNumber number);

  // Removes and returns the next request whose model `can_serve` accepts.
  std::optional<WaitingRequest> TakeNext(
      const std::function<bool(const std::string& model)>& can_serve);

  // Removes and returns those whose deadline is not after `now_ns`.
  std::vector<RequestNumber> TakeExpired(int64_t now_ns);

  size_t size() const { return waiting_.size(); }
  bool full() const { return waiting_.size() >= limits_.waiting; }
  // Returns the audio that waits, in seconds.
  double waiting_cost() const;

  void SetLimits(const Limits& limits) { limits_ = limits; }

 private:
  struct Entry {
    WaitingRequest request;
    uint32_t overtaken = 0;
    bool again = false;
  };
  using Entries = std::list<Entry>;

  double ChargeOf(const std::string& tenant) const;
  bool GoesBefore(const Entry& a, const Entry& b) const;
  void Charge(const Entry& taken);
  void ForgetIdleTenants();

  Limits limits_;
  Entries waiting_;                        // oldest first
  std::map<std::string, double> charges_;  // in seconds of audio; of tenants seen lately
  double floor_ = 0;                       // nobody's charge counts as less
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_DISPATCH_QUEUE_H_
