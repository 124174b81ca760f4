#include "actors/engine/work_queue.h"

#include <algorithm>
#include <utility>

namespace superfluid {

void WorkQueue::AddReady(RequestKey key, WorkClass work, Footprint footprint) {
  AddReserved(key, work, std::move(footprint));
  items_.back().phase = Phase::kReady;
  ++ready_.at(static_cast<size_t>(work));
}

void WorkQueue::AddReserved(RequestKey key, WorkClass work, Footprint footprint) {
  items_.push_back(
      {.key = key, .work = work, .footprint = std::move(footprint), .phase = Phase::kReserved});
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

bool WorkQueue::AnyReady() const {
  return std::any_of(ready_.begin(), ready_.end(), [](size_t ready) { return ready > 0; });
}

WorkQueue::Candidates WorkQueue::Next() const {
  Candidates next;
  const auto wanted = [&](WorkClass work) {
    const auto index = static_cast<size_t>(work);
    return ready_.at(index) > 0 && !next.at(index);
  };
  InUse in_front;
  for (const Item& item : items_) {
    if (item.phase == Phase::kReady && wanted(item.work) && !in_front.Conflicts(item.footprint)) {
      next.at(static_cast<size_t>(item.work)) = item.key;
    }
    if (!wanted(WorkClass::kTick) && !wanted(WorkClass::kCall) && !wanted(WorkClass::kOp)) break;
    in_front.Add(item.footprint);
    if (in_front.everything) break;  // nothing behind a barrier may begin
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

bool WorkQueue::InUse::Conflicts(const Footprint& footprint) const {
  if (footprint.barrier) return something;
  const auto changed = [this](const WorkKey& key) { return keys.contains(key); };
  const auto used = [this](const WorkKey& key) {
    return keys.contains(key) || shared.contains(key);
  };
  return std::any_of(footprint.keys.begin(), footprint.keys.end(), used) ||
         std::any_of(footprint.shared.begin(), footprint.shared.end(), changed);
}

void WorkQueue::InUse::Add(const Footprint& footprint) {
  something = true;
  everything = everything || footprint.barrier;
  keys.insert(footprint.keys.begin(), footprint.keys.end());
  shared.insert(footprint.shared.begin(), footprint.shared.end());
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
