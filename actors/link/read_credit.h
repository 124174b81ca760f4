#ifndef SUPERFLUID_ACTORS_LINK_READ_CREDIT_H_
#define SUPERFLUID_ACTORS_LINK_READ_CREDIT_H_

#include <atomic>
#include <cstdint>

namespace superfluid {

// What the frames of one link may still take: taken by the link's reader, and given back, without a
// message, wherever a frame's contents are destroyed. Only a reader that waits is told.
//
// Invariant: a reader whose Await returned true gets a Give that returns true, if any comes.
//
// Threads: Take and Await the reader's; Give and the figures any.
class ReadCredit {
 public:
  struct Amount {
    int64_t frames = 0;
    int64_t urgent_frames = 0;  // that overtake the others (admission.h)
    int64_t payload_bytes = 0;
  };

  explicit ReadCredit(const Amount& all)
      : frames_(all.frames), urgent_frames_(all.urgent_frames), payload_bytes_(all.payload_bytes) {}

  void Take(const Amount& amount) { Add(amount, -1); }

  // Returns whether the reader waits and has to be told; once.
  bool Give(const Amount& amount) {
    Add(amount, 1);
    return waits_.load() && waits_.exchange(false);
  }

  // Has the reader told of the next credit. Returns false if `has_enough` finds that there is some
  // by now; it may be told all the same.
  template <class Predicate>
  bool Await(Predicate has_enough) {
    waits_.store(true);
    if (!has_enough()) return true;
    waits_.store(false);
    return false;
  }

  int64_t frames() const { return frames_.load(); }
  int64_t urgent_frames() const { return urgent_frames_.load(); }
  int64_t payload_bytes() const { return payload_bytes_.load(); }  // negative: one frame was larger

 private:
  void Add(const Amount& amount, int64_t sign) {
    if (amount.frames != 0) frames_.fetch_add(sign * amount.frames);
    if (amount.urgent_frames != 0) urgent_frames_.fetch_add(sign * amount.urgent_frames);
    if (amount.payload_bytes != 0) payload_bytes_.fetch_add(sign * amount.payload_bytes);
  }

  std::atomic<int64_t> frames_;
  std::atomic<int64_t> urgent_frames_;
  std::atomic<int64_t> payload_bytes_;
  std::atomic<bool> waits_{false};
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_READ_CREDIT_H_
