#include "actors/dispatch/descriptor_table.h"

#include <algorithm>
#include <utility>

namespace superfluid {

void DescriptorTable::Add(uint64_t tag, OwnedFd fd, int64_t now_ns) {
  waiting_.push_back({.tag = tag, .fd = std::move(fd), .since_ns = now_ns});
}

std::optional<OwnedFd> DescriptorTable::Claim(uint64_t tag) {
  auto it = std::find_if(waiting_.begin(), waiting_.end(),
                         [tag](const Waiting& waiting) { return waiting.tag == tag; });
  if (it == waiting_.end()) return std::nullopt;
  OwnedFd fd = std::move(it->fd);
  waiting_.erase(it);
  return fd;
}

size_t DescriptorTable::DropOverdue(int64_t now_ns) {
  size_t dropped = 0;
  while (!waiting_.empty() && now_ns - waiting_.front().since_ns >= patience_ns_) {
    waiting_.pop_front();
    ++dropped;
  }
  return dropped;
}

bool DescriptorTable::DropOldestBut(std::multiset<uint64_t> named) {
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    const auto name = named.find(it->tag);
    if (name == named.end()) {
      waiting_.erase(it);
      return true;
    }
    named.erase(name);
  }
  return false;
}

}  // namespace superfluid
