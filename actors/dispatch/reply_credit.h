#ifndef SUPERFLUID_ACTORS_DISPATCH_REPLY_CREDIT_H_
#define SUPERFLUID_ACTORS_DISPATCH_REPLY_CREDIT_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace superfluid {

// The answers of one link that wait for the socket, and the credit of frames that is withheld while
// there are too many: a peer that does not read its answers is not read either (ALWAYS-4).
//
// Invariant: each answer is counted before it is handed to the writer (AnswerFollows), so that the
// count is never below what waits. Threads: one.
class ReplyCredit {
 public:
  using Credit = std::shared_ptr<const void>;

  explicit ReplyCredit(int64_t most_unsent) : most_unsent_(most_unsent) {}

  // Counts an answer that is about to be handed to the writer.
  void NoteHandedOver() { ++unsent_; }

  // Counts an answer that was written, and gives back what was withheld once the peer reads.
  // REQUIRES: unsent() > 0.
  void NoteWritten() {
    assert(unsent_ > 0);
    --unsent_;
    if (!IsBlocked()) withheld_.clear();
  }

  // Keeps the credit of a frame that just arrived if too many answers wait.
  void OnFrame(const Credit& credit) {
    if (IsBlocked()) withheld_.push_back(credit);
  }

  // Gives back what is withheld, at the end of the link.
  void Release() { withheld_.clear(); }

  bool IsBlocked() const { return unsent_ > most_unsent_; }
  int64_t unsent() const { return unsent_; }
  size_t withheld() const { return withheld_.size(); }

 private:
  const int64_t most_unsent_;
  int64_t unsent_ = 0;
  std::vector<Credit> withheld_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_REPLY_CREDIT_H_
