#include "actors/work_queue.h"

#include <algorithm>
#include <utility>

namespace superfluid {

void WorkQueue::Add(RequestKey key, WorkClass work, Footprint footprint, bool ready) {
  items_.push_back({.key = key,
                    .work = work,
                    .footprint = std::move(footprint),
                    .phase = ready ? Phase::kReady : Phase::kReserved});
  if (ready) ++ready_.at(static_cast<size_t>(work));
}

void WorkQueue::MakeReady(RequestKey key) {
  const auto item = Find(key);
  if (item == items_.end() || item->phase != Phase::kReserved) return;
  item->phase = Phase::kReady;
  ++ready_.at(static_cast<size_t>(item->work));
}

void WorkQueue::Begin(RequestKey key) {
  const auto item = Find(key);
  if (item == items_.end()) return;
  if (item->phase == Phase::kReady) --ready_.at(static_cast<size_t>(item->work));
  item->phase = Phase::kRunning;
}

void WorkQueue::Remove(RequestKey key) {
  const auto item = Find(key);
  if (item == items_.end()) return;
  if (item->phase == Phase::kReady) --ready_.at(static_cast<size_t>(item->work));
  items_.erase(item);
}

bool WorkQueue::Running(RequestKey key) const {
  const auto item = Find(key);
  return item != items_.end() && item->phase == Phase::kRunning;
}

WorkQueue::Candidates WorkQueue::Next() const {
  Candidates next;
  const auto wanted = [&](WorkClass work) {
    const auto index = static_cast<size_t>(work);
    return ready_.at(index) > 0 && !next.at(index);
  };
  InUse in_front;
  for (const Item& item : items_) {
    if (!wanted(WorkClass::kTick) && !wanted(WorkClass::kCall) && !wanted(WorkClass::kOp)) break;
    if (in_front.everything) break;  // nothing behind a barrier may begin
    if (item.phase == Phase::kReady && wanted(item.work) && !in_front.Conflicts(item.footprint)) {
      next.at(static_cast<size_t>(item.work)) = item.key;
    }
    in_front.Add(item.footprint);
  }
  return next;
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

bool WorkQueue::InUse::Conflicts(const Footprint& footprint) const {
  if (footprint.barrier) return something;
  return std::any_of(footprint.keys.begin(), footprint.keys.end(),
                     [this](const WorkKey& key) { return keys.contains(key); });
}

void WorkQueue::InUse::Add(const Footprint& footprint) {
  something = true;
  everything = everything || footprint.barrier;
  keys.insert(footprint.keys.begin(), footprint.keys.end());
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
