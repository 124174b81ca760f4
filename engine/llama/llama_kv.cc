#include "engine/llama/llama_kv.h"

#include <llama.h>

#include <algorithm>

namespace superfluid {

KvRun::KvRun(const KvRun& other) : cells_(other.cells_) { Add(other.run_); }

KvRun& KvRun::operator=(KvRun other) noexcept {
  std::swap(cells_, other.cells_);
  std::swap(run_, other.run_);
  return *this;
}

void KvRun::Add(absl::Span<const KvCell> cells) {
  run_.reserve(run_.size() + cells.size());
  for (const KvCell cell : cells) {
    cells_->Share(cell);
    run_.push_back(cell);
  }
}

void KvRun::Drop(size_t start, size_t end) {
  for (size_t i = start; i < end; ++i) cells_->Release(std::exchange(run_[i], kNoCell));
}

void KvRun::Fill(size_t start, absl::Span<const KvCell> cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    cells_->Share(cells[i]);
    cells_->Release(std::exchange(run_[start + i], cells[i]));
  }
}

void KvRun::AddNew(size_t count) {
  run_.reserve(run_.size() + count);
  for (size_t i = 0; i < count; ++i) run_.push_back(cells_->Take());
}

void KvRun::Resize(size_t size) {
  while (run_.size() > size) {
    cells_->Release(run_.back());
    run_.pop_back();
  }
}

bool KvRun::IsShared() const {
  return std::any_of(run_.begin(), run_.end(),
                     [this](KvCell cell) { return cells_->owners(cell) > 1; });
}

bool KvCells::MakeRoom(uint64_t count) {
  while (free() < count || used_ + reserved_ > total()) {
    if (!Reclaim()) return false;
  }
  return true;
}

KvCell KvCells::Take() {
  ++used_;
  KvCell cell = next_;
  if (given_back_.empty()) {
    ++next_;
    // More than there are cannot be taken by who made room; the count stays right even so.
    if (cell >= owners_.size()) owners_.resize(cell + 1);
  } else {
    cell = given_back_.back();
    given_back_.pop_back();
  }
  owners_[cell] = 1;
  return cell;
}

void KvCells::Share(KvCell cell) {
  if (cell != kNoCell) ++owners_[cell];
}

void KvCells::Release(KvCell cell) {
  if (cell == kNoCell || --owners_[cell] > 0) return;
  --used_;
  given_back_.push_back(cell);
}

KvSequences::KvSequences(llama_memory_i* memory, KvCells& cells, int32_t ids)
    : memory_(memory), cells_(cells), total_(static_cast<size_t>(ids)) {
  free_.reserve(total_);
  for (int32_t id = ids; id-- > 0;) free_.push_back(id);
}

std::optional<int32_t> KvSequences::Take() {
  while (free_.empty()) {
    if (reclaim_ == nullptr || !reclaim_()) return std::nullopt;
  }
  const int32_t id = free_.back();
  free_.pop_back();
  return id;
}

void KvSequences::GiveBack(int32_t id) {
  Remove(id, 0, -1);
  free_.push_back(id);
}

void KvSequences::Remove(int32_t id, uint64_t start, int64_t end) const {
  llama_memory_seq_rm(memory_, id, static_cast<llama_pos>(start), static_cast<llama_pos>(end));
}

void KvSequences::Copy(int32_t from, int32_t to, uint64_t start, int64_t end) const {
  llama_memory_seq_cp(memory_, from, to, static_cast<llama_pos>(start),
                      static_cast<llama_pos>(end));
}

uint64_t KvSequences::End(int32_t id) const {
  return static_cast<uint64_t>(int64_t{llama_memory_seq_pos_max(memory_, id)} + 1);
}

std::unique_ptr<KvSequence> KvSequence::Take(KvSequences& sequences) {
  const std::optional<int32_t> id = sequences.Take();
  if (!id.has_value()) return nullptr;
  return std::make_unique<KvSequence>(sequences, *id);
}

}  // namespace superfluid
