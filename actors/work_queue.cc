#include "actors/work_queue.h"

#include <algorithm>
#include <utility>

namespace superfluid {

void WorkQueue::Add(RequestKey key, WorkClass work, Footprint footprint, bool ready) {
  std::sort(footprint.keys.begin(), footprint.keys.end());
  items_.push_back({.key = key,
                    .work = work,
                    .footprint = std::move(footprint),
                    .phase = ready ? Phase::kReady : Phase::kReserved});
}

void WorkQueue::MakeReady(RequestKey key) {
  const auto item = Find(key);
  if (item != items_.end() && item->phase == Phase::kReserved) item->phase = Phase::kReady;
}

void WorkQueue::Begin(RequestKey key) {
  const auto item = Find(key);
  if (item != items_.end()) item->phase = Phase::kRunning;
}

void WorkQueue::Remove(RequestKey key) {
  const auto item = Find(key);
  if (item != items_.end()) items_.erase(item);
}

bool WorkQueue::Running(RequestKey key) const {
  const auto item = Find(key);
  return item != items_.end() && item->phase == Phase::kRunning;
}

std::optional<RequestKey> WorkQueue::Next(WorkClass work) const {
  for (auto item = items_.begin(); item != items_.end(); ++item) {
    if (item->work == work && item->phase == Phase::kReady && MayBegin(item)) return item->key;
  }
  return std::nullopt;
}

std::vector<RequestKey> WorkQueue::KeysOf(LinkId link) const {
  std::vector<RequestKey> keys;
  for (const Item& item : items_) {
    if (item.key.link == link) keys.push_back(item.key);
  }
  return keys;
}

size_t WorkQueue::waiting() const {
  return static_cast<size_t>(std::count_if(items_.begin(), items_.end(), [](const Item& item) {
    return item.phase != Phase::kRunning;
  }));
}

bool WorkQueue::Conflict(const Footprint& a, const Footprint& b) {
  if (a.barrier || b.barrier) return true;
  auto in_a = a.keys.begin();
  auto in_b = b.keys.begin();
  while (in_a != a.keys.end() && in_b != b.keys.end()) {
    if (*in_a == *in_b) return true;
    if (*in_a < *in_b) {
      ++in_a;
    } else {
      ++in_b;
    }
  }
  return false;
}

bool WorkQueue::MayBegin(Items::const_iterator candidate) const {
  return std::none_of(items_.begin(), candidate, [&](const Item& earlier) {
    return Conflict(earlier.footprint, candidate->footprint);
  });
}

WorkQueue::Items::const_iterator WorkQueue::Find(RequestKey key) const {
  return std::find_if(items_.begin(), items_.end(),
                      [key](const Item& item) { return item.key == key; });
}

WorkQueue::Items::iterator WorkQueue::Find(RequestKey key) {
  return std::find_if(items_.begin(), items_.end(),
                      [key](const Item& item) { return item.key == key; });
}

}  // namespace superfluid
