#include "engine/generation/sequence_media.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace superfluid {

void SequenceMedia::Add(uint64_t start, MediaItemRef item) {
  for (uint64_t i = 0; i < item->tokens; ++i) marks_[start + i] = item->fingerprint;
  items_[start] = std::move(item);
}

void SequenceMedia::Replace(MediaMap marks) {
  marks_ = std::move(marks);
  items_.clear();
}

void SequenceMedia::Cut(uint64_t length) {
  marks_.erase(marks_.lower_bound(length), marks_.end());
  items_.erase(items_.lower_bound(length), items_.end());
}

void SequenceMedia::Attach(const std::function<MediaItemRef(uint64_t fingerprint)>& find) {
  for (const auto& [position, fingerprint] : marks_) {
    uint64_t start = 0;
    if (ItemAt(position, start) != nullptr) continue;
    if (MediaItemRef found = find(fingerprint); found != nullptr) {
      items_[position] = std::move(found);
    }
  }
}

const MediaItem* SequenceMedia::ItemAt(uint64_t position, uint64_t& start) const {
  const uint64_t fingerprint = MediaAt(marks_, position);
  auto next = items_.upper_bound(position);
  if (fingerprint == 0 || next == items_.begin()) return nullptr;
  const auto& [begin, item] = *std::prev(next);
  if (item->fingerprint != fingerprint || position - begin >= item->tokens) return nullptr;
  start = begin;
  return item.get();
}

SequenceMedia::Run SequenceMedia::At(uint64_t position) const {
  Run run;
  const auto mark = marks_.lower_bound(position);
  if (mark == marks_.end() || mark->first != position) {
    run.end = mark == marks_.end() ? UINT64_MAX : mark->first;
    return run;
  }
  uint64_t start = 0;
  const MediaItem* item = ItemAt(position, start);
  if (item == nullptr) {
    run.end = position + 1;
    run.missing = true;
    return run;
  }
  const uint64_t at = position - start;
  const auto part = std::find_if(
      item->parts.begin(), item->parts.end(),
      [at](const MediaPart& candidate) { return at < candidate.start + candidate.count; });
  run.part = &*part;
  run.index = at - part->start;
  run.end = start + part->start + part->count;
  // The item may have been cut, and something else follow.
  const auto next = items_.upper_bound(position);
  if (next != items_.end()) run.end = std::min(run.end, next->first);
  auto last = mark;
  for (uint64_t i = position; i < run.end; ++i, ++last) {
    if (last == marks_.end() || last->first != i || last->second != item->fingerprint) run.end = i;
  }
  return run;
}

bool SequenceMedia::Complete(uint64_t start, uint64_t end) const {
  while (start < end) {
    const Run run = At(start);
    if (run.missing) return false;
    start = run.end;
  }
  return true;
}

bool SequenceMedia::Splits(uint64_t position) const {
  const Run run = At(position);
  return run.part != nullptr && run.part->non_causal && run.index > 0;
}

}  // namespace superfluid
