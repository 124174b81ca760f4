#ifndef SUPERFLUID_ACTORS_DISPATCH_REPLY_CREDIT_H_
#define SUPERFLUID_ACTORS_DISPATCH_REPLY_CREDIT_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace superfluid {

// The answers of one link that wait for the socket, and the credit of frames that is withheld while
// there are too many: a peer that does not read its answers is not read either (ALWAYS-4).
//
// An actor that answers for itself reports its answers after they may have been written, so the
// count is briefly below zero. Threads: one.
class ReplyCredit {
 public:
  using Credit = std::shared_ptr<const void>;

  explicit ReplyCredit(int64_t most_unsent) : most_unsent_(most_unsent) {}

  // Counts answers that were handed to the writer.
  void NoteHandedOver(int64_t answers) { unsent_ += answers; }

  // Counts an answer that was written, and gives back what was withheld once the peer reads.
  void NoteWritten() {
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
  size_t withheld() const { return withheld_.size(); }

 private:
  const int64_t most_unsent_;
  int64_t unsent_ = 0;
  std::vector<Credit> withheld_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_REPLY_CREDIT_H_
