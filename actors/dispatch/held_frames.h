#ifndef SUPERFLUID_ACTORS_DISPATCH_HELD_FRAMES_H_
#define SUPERFLUID_ACTORS_DISPATCH_HELD_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "protocol/frames/frame.h"
#include "protocol/messages/messages.h"

namespace superfluid {

// Which cancel reached a frame while it waited. Its request is answered CANCELLED, at the latest
// when its turn comes.
enum class HeldCancel : uint8_t {
  kNone,
  kTranscription,  // all transcriptions were cancelled: if it is one
  kAny,            // its number was named: whatever TRANSCRIBE_CANCEL may cancel
};

// A frame that waits for its turn, with the credit that it holds.
struct HeldFrame {
  std::shared_ptr<const linkw::Frame> frame;  // without its payload once others decode that
  size_t payload_bytes = 0;
  std::shared_ptr<const void> credit = {};  // for as long as its contents are held
  std::shared_ptr<const void> turn = {};    // of live audio: until it is handed on
  int64_t since_ns = 0;                     // when it arrived
  HeldCancel cancel = HeldCancel::kNone;
  bool decodes_elsewhere = false;
  std::shared_ptr<absl::StatusOr<linkw::DriverMessage>> decoded = {};  // there, once it is done
};

// The frames of one link that have not been handled, in the order sent, and since when the first of
// them waits for a descriptor (CHAN-12, CHAN-13). Bounded by the reader's credit.
// Times are monotonic nanoseconds. Threads: one.
class HeldFrames {
 public:
  void Push(HeldFrame frame) { frames_.push_back(std::move(frame)); }
  bool empty() const { return frames_.empty(); }
  size_t size() const { return frames_.size(); }

  // REQUIRES: !empty().
  HeldFrame& front() { return frames_.front(); }

  // Drops the first frame, which was handled. The next one waits for nothing yet.
  void Pop() {
    if (!frames_.empty()) frames_.pop_front();
    awaited_until_ns_ = 0;
  }

  // Removes and returns the frames that overtake (Overtakes), in their order.
  std::deque<HeldFrame> TakeOvertaking();

  // Marks what waits as cancelled: it is not open yet. Removes and returns, in their order, the
  // requests whose answer is known now, since nothing but a refusal comes of them; what is being
  // decoded keeps its place.
  std::deque<HeldFrame> CancelTranscriptions();
  std::deque<HeldFrame> Cancel(uint64_t seq);

  // Returns the tags of the descriptors that the frames will claim, each as often as it is named.
  std::multiset<uint64_t> NamedTags() const;

  // Notes that the first frame waits for its descriptor, until `due_ns` at most.
  void Await(int64_t now_ns, int64_t due_ns) {
    if (!awaits()) awaited_since_ns_ = now_ns;
    awaited_until_ns_ = due_ns;
  }
  bool awaits() const { return awaited_until_ns_ != 0; }
  // REQUIRES: awaits().
  int64_t awaited_until_ns() const { return awaited_until_ns_; }
  // Returns the time from which room is made for the awaited descriptor: not at once, since the
  // messages that name the others may be right behind. REQUIRES: awaits().
  int64_t settled_ns() const { return awaited_since_ns_ + kSettleNs; }

 private:
  static constexpr int64_t kSettleNs = 100'000'000;

  std::deque<HeldFrame> TakeOut(const std::function<bool(const HeldFrame& held)>& is_taken);

  std::deque<HeldFrame> frames_;
  int64_t awaited_since_ns_ = 0;
  int64_t awaited_until_ns_ = 0;  // 0: the first frame waits for no descriptor
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_HELD_FRAMES_H_
