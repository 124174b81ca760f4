#ifndef SUPERFLUID_TESTS_CONFORMANCE_LEDGER_H_
#define SUPERFLUID_TESTS_CONFORMANCE_LEDGER_H_

#include <cstdint>
#include <map>
#include <set>

#include "protocol/messages/messages.h"

namespace superfluid::conformance {

// Holds every frame of one link against what is true of all of them, whatever a check is about: an
// answer names a request that was sent and comes once; an op is done once, and after it was
// accepted; emits and segments precede the answer of their request; op completions are listed
// after they were told. What breaks that is a Failed.
class Ledger {
 public:
  void Sent(uint64_t seq, linkw::MessageType type) { sent_.emplace(seq, type); }
  void Received(uint64_t correlation, const linkw::WorkerMessage& message);

 private:
  void Answer(uint64_t correlation, linkw::MessageType type);
  void OnAccepted(uint64_t correlation, const linkw::StateOpAccepted& accepted);
  void OnDone(uint64_t correlation, const linkw::StateOpDone& done);
  void OnTickResult(const linkw::TickResult& result);

  std::map<uint64_t, linkw::MessageType> sent_;
  std::set<uint64_t> answered_;
  std::map<linkw::OpHandle, uint64_t> ops_;  // accepted, by the submit's seq
  std::set<linkw::OpHandle> done_;
  std::set<linkw::OpHandle> listed_;
};

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_LEDGER_H_
