#ifndef SUPERFLUID_TESTS_SIMULATION_ORACLE_H_
#define SUPERFLUID_TESTS_SIMULATION_ORACLE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/frames/frame.h"
#include "protocol/messages/messages.h"

namespace superfluid::simulation {

class Oracle;

// Holds the worker's side of one link against the contract, from the frames that go over the link
// and from nothing else. A sentence of protocol/CONTRACT.md that does not hold becomes a violation
// of the Oracle.
//
// Times are the virtual clock's nanoseconds. "At rest": nothing in the worker can run before time
// passes, and the peer has read all that it wanted to read.
class LinkOracle {
 public:
  // `driver`: the role that the peer asks for.
  LinkOracle(Oracle& oracle, int number, bool driver)
      : oracle_(oracle), number_(number), driver_(driver) {}

  // ---- What the peer did.

  // Sent a whole, well-formed frame.
  void OnSent(uint64_t seq, const linkw::DriverMessage& message, int64_t now_ns);
  // Sent a whole frame that is a request error, or is to be skipped: at most one ERROR follows.
  void OnSentOdd(uint64_t seq);
  // Broke a rule for which the link ends.
  void OnBroke(std::string how);
  // Sent the first bytes of HELLO only.
  void OnHelloCut() { hello_ns_ = std::numeric_limits<int64_t>::max() / 2; }
  // Sent a message that names a descriptor, and not (or not yet) the descriptor.
  void OnDescriptorMissing(int64_t now_ns);
  void OnHungUp();
  void SetReading(bool reading) {
    reading_ = reading;
    stopped_reading_ = stopped_reading_ || !reading;
  }
  // The process did not run for `time_ns`.
  void OnPaused(int64_t time_ns);
  // Wrote a request's number (0: took it back) into a stop word of the control segment, which asks
  // the request that named the word to stop without a message; `seen`: the worker looks there.
  void OnStopWord(uint32_t slot, uint64_t seq, int64_t now_ns, bool seen);

  // ---- What the worker did.

  void OnReceived(const linkw::FrameHeader& header, const linkw::WorkerMessage& message,
                  int64_t now_ns);
  void OnClosed();

  // ---- Checks.

  void AtRest(int64_t now_ns);
  // The worker has taken the peer's frames up to `taken`; at most `in_stream` answers lie in the
  // stream and were not read.
  void CheckHeld(uint64_t taken, size_t in_stream);
  // Everything was sent that the open requests wait for, and time enough has passed.
  void AtEnd();

  bool acked() const { return acked_; }
  // The link is over: closed by either side, or about to be.
  bool over() const { return closed_ || hung_up_ || fatal_; }
  bool broke() const { return !broke_.empty(); }
  int number() const { return number_; }
  bool driver() const { return driver_; }
  // Live transcriptions that wait for audio or its end.
  std::vector<uint64_t> OpenLive() const;
  std::vector<uint64_t> OpenTranscriptions() const;
  std::vector<linkw::OpHandle> OpenOps() const;
  size_t Unanswered() const;

 private:
  enum class Expect { kAnswer, kNothing, kOp };
  struct Request {
    linkw::MessageType type{};
    Expect expect = Expect::kAnswer;
    int64_t sent_ns = 0;
    int finals = 0;
    bool refused = false;
    bool instant = false;  // its answer needs nothing but the link
    // Of an op.
    std::optional<linkw::OpHandle> op;
    // Of a transcription.
    bool transcription = false;
    bool streams = false;
    bool live_open = false;
    uint32_t final_segments = 0;
    int64_t last_start_ms = 0;
    int64_t audio_ms = 0;
    int64_t stop_ns = 0;          // when its end was asked for; 0: never
    uint32_t control_slot = 0;    // the stop word that it named, from 1; 0: none
    bool stop_is_word = false;    // it was asked for by that alone, and may be taken back
    bool stop_was_asked = false;  // if only for a while
    // Of a transcription that streams partial segments: one for each of its engine steps.
    bool steps_seen = false;
    int64_t sent_audio_ms = 0;
    int64_t heard_ms = 0;        // of its audio, up to the end of the last segment
    int64_t ready_since_ns = 0;  // it has had audio to step on since then; 0: it has none
    int64_t ready_ns = 0;        // in all, since its first segment
    int64_t steps = 0;           // since its first segment
    int64_t deadline_ns = 0;     // 0: none
    // Of a tick.
    uint64_t tick_id = 0;
    std::vector<linkw::LaneTag> tags;
    std::map<linkw::LaneTag, uint32_t> emitted;
  };

  void Fail(const std::string& what);
  void OnFatal(const linkw::Error& error);
  void Finish(uint64_t seq, Request& request, linkw::MessageType got, linkw::Status status);
  bool HeldBack(int64_t now_ns) const { return now_ns < held_until_ns_; }

  void Sent(Request& request, const linkw::TickSubmit& tick);
  void Sent(Request& request, const linkw::StateSyncRequest& call);
  void SentCancel(uint64_t request_seq, int64_t now_ns);

  void Got(uint64_t seq, Request& request, const linkw::Error& error);
  void Got(uint64_t seq, Request& request, const linkw::HelloAck& ack);
  void Got(uint64_t seq, Request& request, const linkw::TickEmit& emit);
  void Got(uint64_t seq, Request& request, const linkw::TickResult& result);
  void Got(uint64_t seq, Request& request, const linkw::StateOpAccepted& accepted);
  void Got(uint64_t seq, Request& request, const linkw::StateOpDone& done);
  void Got(uint64_t seq, Request& request, const linkw::TranscribeSegment& segment);
  void Stepped(uint64_t seq, Request& request, int64_t end_ms);
  void Got(uint64_t seq, Request& request, const linkw::TranscribeProgress& progress);
  void Got(uint64_t seq, Request& request, const linkw::StateSyncResult& result);
  void Got(uint64_t seq, Request& request, const linkw::Drained& drained);
  template <class Other>
  void Got(uint64_t seq, Request& request, const Other& other);
  void CheckTranscript(const Request& request, const linkw::StateSyncResult& result);
  void SentAudio(const linkw::TranscribeAudio& audio, int64_t now_ns);
  void CheckShare(uint64_t seq, const Request& request, int64_t now_ns);
  static bool HasAudio(const Request& request);
  bool IsNewWork(const Request& request) const;

  Oracle& oracle_;
  const int number_;
  const bool driver_;
  std::map<uint64_t, Request> requests_;  // by the seq of the peer's frame
  uint64_t last_seq_ = 0;                 // of the worker's frames
  uint64_t hello_seq_ = 0;
  int64_t hello_ns_ = 0;
  bool acked_ = false;
  bool reading_ = true;
  bool always_read_ = true;
  bool stopped_reading_ = false;  // once: the worker may have read this peer late
  bool hung_up_ = false;
  bool closed_ = false;
  bool fatal_ = false;
  std::string broke_;  // how the peer broke the link; empty: not
  int64_t held_until_ns_ = 0;
  std::map<linkw::OpHandle, uint64_t> ops_;  // accepted
  std::set<linkw::OpHandle> done_;
  std::set<linkw::OpHandle> listed_;
  int64_t received_ns_ = 0;   // when the frame in hand was received
  uint64_t drained_seq_ = 0;  // of the DRAIN_REQ that was answered by DRAINED
  bool drain_was_asked_ = false;
  std::map<uint32_t, uint64_t> stop_words_;  // by slot, from 1: the number in it
};

// Holds a worker against the contract over all of its links.
class Oracle {
 public:
  // A sentence of the contract that did not hold. The text names the link and the request.
  void Fail(std::string what) { violations_.push_back(std::move(what)); }
  const std::vector<std::string>& violations() const { return violations_; }

  // A driver's link was granted the role. `others_live`: another granted link is not over.
  void OnGranted(const LinkOracle& link);
  void OnOver(const LinkOracle& link);

  // The worker may now end links by itself: it was told to end, or one of its actors was killed.
  void AllowEnds(bool allow) { ends_allowed_ = allow; }
  bool ends_allowed() const { return ends_allowed_; }
  // What the engine takes for a step of a transcription, and for the longest step of any kind;
  // 0: not known, and shares are not checked.
  void SetSteps(int64_t step_ns, int64_t longest_ns) {
    step_ns_ = step_ns;
    longest_ns_ = longest_ns;
  }
  // What a step that is slow or hangs takes longer, in a session with such an engine.
  void SetFault(int64_t fault_ns) { fault_ns_ = fault_ns; }
  int64_t fault_ns() const { return fault_ns_; }
  int64_t step_ns() const { return step_ns_; }
  int64_t longest_ns() const { return longest_ns_; }
  // Transcriptions that are open on all links.
  void AddOpen(int change) {
    open_ += change;
    most_open_ = std::max(most_open_, open_);
  }
  int most_open() const { return most_open_; }
  // Notes an event, for the summary of what happened over all seeds.
  void Count(const std::string& what) { ++counts_[what]; }
  const std::map<std::string, int64_t>& counts() const { return counts_; }

 private:
  std::vector<std::string> violations_;
  std::map<std::string, int64_t> counts_;
  int64_t step_ns_ = 0;
  int64_t longest_ns_ = 0;
  int64_t fault_ns_ = 0;
  int open_ = 0;
  int most_open_ = 0;
  int driving_ = 0;  // the number of the link that has the role; 0: none
  bool ends_allowed_ = false;
};

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_ORACLE_H_
