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
  items_.push_back({.key = key,
                    .work = work,
                    .footprint = std::move(footprint),
                    .phase = Phase::kReserved,
                    .place = ++last_place_});
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
  spare_ = std::move(item->footprint);
  spare_.keys.clear();
  spare_.shared.clear();
  spare_.barrier = false;
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
  in_front_.clear();
  for (auto item = items_.begin(); item != items_.end(); ++item) {
    if (item->phase == Phase::kReady && wanted(item->work) && MayBegin(item)) {
      next.at(static_cast<size_t>(item->work)) = item->key;
    }
    if (!wanted(WorkClass::kTick) && !wanted(WorkClass::kCall) && !wanted(WorkClass::kOp)) break;
    if (item->footprint.barrier) break;  // nothing behind it may begin
    in_front_.push_back(item->place);
  }
  return next;
}

// REQUIRES: in_front_ has the places of all that is in front of it.
bool WorkQueue::MayBegin(Items::const_iterator item) const {
  if (item->is_free) return true;
  if (item->waits_for != 0 &&
      std::binary_search(in_front_.begin(), in_front_.end(), item->waits_for)) {
    return false;
  }
  item->is_free = true;
  if (item == items_.begin()) return true;
  const Touched touched(item->footprint);
  for (auto other = item; other != items_.begin() && item->is_free;) {
    --other;
    if (!touched.Conflicts(other->footprint, keys_compared_)) continue;
    item->waits_for = other->place;
    item->is_free = false;
  }
  return item->is_free;
}

std::vector<RequestKey> WorkQueue::KeysOf(LinkId link) const {
  std::vector<RequestKey> keys;
  for (const Item& item : items_) {
    if (item.key.link == link) keys.push_back(item.key);
  }
  return keys;
}

WorkQueue::Touched::Keys::Keys(const std::vector<WorkKey>& from) : all(from) {
  if (from.size() > kFew) many.insert(from.begin(), from.end());
}

bool WorkQueue::Touched::Keys::Contains(const WorkKey& key) const {
  if (all.size() > kFew) return many.contains(key);
  return std::find(all.begin(), all.end(), key) != all.end();
}

WorkQueue::Touched::Touched(const Footprint& footprint)
    : barrier_(footprint.barrier), keys_(footprint.keys), shared_(footprint.shared) {}

bool WorkQueue::Touched::Conflicts(const Footprint& other, uint64_t& compared) const {
  if (barrier_ || other.barrier) return true;
  if (keys_.all.empty() && shared_.all.empty()) return false;
  compared += other.keys.size() + other.shared.size();
  const auto changed = [this](const WorkKey& key) { return keys_.Contains(key); };
  const auto used = [this](const WorkKey& key) {
    return keys_.Contains(key) || shared_.Contains(key);
  };
  return std::any_of(other.keys.begin(), other.keys.end(), used) ||
         std::any_of(other.shared.begin(), other.shared.end(), changed);
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
