#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_DECODE_DESK_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_DECODE_DESK_H_

#include <cstdint>
#include <map>
#include <memory>

#include "tools/superfluidd/fleet/decode_order.h"
#include "tools/superfluidd/fleet/fleet_messages.h"

namespace superfluid::daemon {

struct DecodeDeskConfig {
  std::shared_ptr<UploadDecoder> decoder;
  size_t most_ahead = 2;  // decoders of requests that have no worker yet
};

// Has the recordings decoded that workers do not read: while their requests wait for a worker, if
// few others do so (DecodeOrder) and half of the budget of all uploads is free; at once when they
// have one. What is decoded ahead may take an eighth of the budget; what needs more is left until
// its request has a worker.
//
// A request hears of each decode at most once, with UploadDecoded; one that forgets its decode has
// the decoder ended, and hears nothing. A decode that a request needs ends by its deadline.
//
// On a thread of its own: a decoder is started and ended in milliseconds.
class DecodeDeskState {
 public:
  static constexpr const char* name = "decode-desk";

  explicit DecodeDeskState(DecodeDesk::pointer self) : self_(self) {}

  void Start(DecodeDeskConfig config);
  void OnWant(const WantSamples& want);
  void OnNeed(const NeedSamples& need);
  void OnForget(RequestNumber number);
  void OnEnded(const DecodeEnded& ended);
  void OnTick();

 private:
  struct Entry {
    std::shared_ptr<const SpeechRequest> request;
    RequestActor actor;
    bool needed = false;                   // its request has a worker
    bool was_ahead = false;                // its decode began before that
    int64_t deadline_ns = 0;               // of a needed one; 0: none
    uint64_t run = 0;                      // which decode this is
    std::unique_ptr<UploadDecode> decode;  // null: none runs
  };
  using Entries = std::map<RequestNumber, Entry>;

  void Begin(RequestNumber number, Entry& entry);
  void BeginAhead();
  void Tell(Entries::iterator entry, const absl::StatusOr<DecodedUpload>& upload);

  DecodeDesk::pointer self_;
  DecodeDeskConfig config_;
  DecodeOrder order_{0};
  Entries entries_;
  uint64_t runs_ = 0;
};

DecodeDesk::behavior_type DecodeDeskBehavior(DecodeDesk::stateful_pointer<DecodeDeskState> self,
                                             DecodeDeskConfig config);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_DECODE_DESK_H_
