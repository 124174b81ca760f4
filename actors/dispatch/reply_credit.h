#ifndef SUPERFLUID_ACTORS_DISPATCH_REPLY_CREDIT_H_
#define SUPERFLUID_ACTORS_DISPATCH_REPLY_CREDIT_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "actors/messages/link_writer_interface.h"

namespace superfluid {

// The credit of frames that is withheld while too many answers of their link wait for the socket: a
// peer that does not read its answers is not read either (ALWAYS-4). Threads: one.
class ReplyCredit {
 public:
  using Credit = std::shared_ptr<const void>;

  explicit ReplyCredit(std::shared_ptr<UnsentReplies> replies) : replies_(std::move(replies)) {}

  // Keeps the credit of a frame that just arrived if too many answers wait.
  void OnFrame(const Credit& credit) {
    if (!replies_->IsAboveLimit()) return;
    withheld_.push_back(credit);
    OnWritten();
  }

  // Gives back what is withheld if no more answers wait than may, or waits for that again.
  void OnWritten() {
    if (!withheld_.empty() && !replies_->Await()) withheld_.clear();
  }

  // Gives back what is withheld, at the end of the link.
  void Release() { withheld_.clear(); }

  size_t withheld() const { return withheld_.size(); }

 private:
  const std::shared_ptr<UnsentReplies> replies_;
  std::vector<Credit> withheld_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_REPLY_CREDIT_H_
