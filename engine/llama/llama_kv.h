#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_KV_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_KV_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"

struct llama_memory_i;

namespace superfluid {

// A cell of the library's KV cache, by our own number: the library does not say which one a token
// took, but a cell is free exactly when no sequence has it, so counting owners counts cells.
using KvCell = uint32_t;
inline constexpr KvCell kNoCell = UINT32_MAX;  // of a token whose state is not on the device

class KvCells;

// A reference to the cells of some tokens, in order. Copies share the cells.
class KvRun {
 public:
  explicit KvRun(KvCells& cells) : cells_(&cells) {}
  KvRun(const KvRun& other);
  KvRun(KvRun&& other) noexcept : cells_(other.cells_), run_(std::move(other.run_)) {
    other.run_.clear();
  }
  KvRun& operator=(KvRun other) noexcept;
  ~KvRun() { Resize(0); }

  size_t size() const { return run_.size(); }
  // Adds cells that exist.
  void Add(absl::Span<const KvCell> cells);
  // Adds `count` new ones; there must be room.
  void AddNew(size_t count);
  void Resize(size_t size);  // not beyond size()
  // Lets go of some of them, which become kNoCell.
  void Drop(size_t start, size_t end);
  // Puts cells in their place.
  void Fill(size_t start, absl::Span<const KvCell> cells);
  absl::Span<const KvCell> cells() const { return run_; }
  // Whether any of them has another owner, too.
  bool IsShared() const;

 private:
  KvCells* cells_;
  std::vector<KvCell> run_;
};

// How many cells there are and who has them. Threads: one. Lifetime: outlives its runs.
class KvCells {
 public:
  explicit KvCells(uint64_t total) : owners_(total) {}

  uint64_t total() const { return owners_.size(); }
  uint64_t used() const { return used_; }
  uint64_t reserved() const { return reserved_; }
  uint64_t free() const { return total() - used_ - reserved_; }
  uint32_t owners(KvCell cell) const { return cell == kNoCell ? 0 : owners_[cell]; }

  // Called when there is no room: gives something back, or says that it cannot.
  void set_reclaim(std::function<bool()> reclaim) { reclaim_ = std::move(reclaim); }
  // Whether that gave anything back.
  bool Reclaim() { return reclaim_ != nullptr && reclaim_(); }
  // False: so many cells cannot be had.
  bool MakeRoom(uint64_t count);

  // Cells that nobody else gets until they are given back.
  void Reserve(uint64_t count) { reserved_ += count; }
  void Unreserve(uint64_t count) { reserved_ -= count; }

 private:
  friend class KvRun;
  KvCell Take();
  void Share(KvCell cell);
  void Release(KvCell cell);

  std::vector<uint32_t> owners_;
  std::vector<KvCell> given_back_;
  KvCell next_ = 0;  // those from here on were never taken
  uint64_t used_ = 0;
  uint64_t reserved_ = 0;
  std::function<bool()> reclaim_;
};

// The library's sequence ids. It accepts ids that it has no room for, so we give them out.
class KvSequences {
 public:
  // `memory`: the library's, of a context with `ids` sequences.
  KvSequences(llama_memory_i* memory, KvCells& cells, int32_t ids);

  // Called when there is no id: gives something back, or says that it cannot.
  void set_reclaim(std::function<bool()> reclaim) { reclaim_ = std::move(reclaim); }

  // One with no tokens; empty: all are in use and reclaiming did not help.
  std::optional<int32_t> Take();
  void GiveBack(int32_t id);  // with all its tokens

  // Positions [start, end) as llama_memory_seq_rm and llama_memory_seq_cp; end -1: to the last.
  void Remove(int32_t id, uint64_t start, int64_t end) const;
  void Copy(int32_t from, int32_t to, uint64_t start, int64_t end) const;
  // One more than the last position; 0: none.
  uint64_t End(int32_t id) const;

  KvCells& cells() { return cells_; }
  size_t in_use() const { return total_ - free_.size(); }

 private:
  llama_memory_i* const memory_;
  KvCells& cells_;
  const size_t total_;
  std::vector<int32_t> free_;
  std::function<bool()> reclaim_;
};

// One of these ids, given back with its owner.
class KvSequence {
 public:
  KvSequence(KvSequences& sequences, int32_t id) : sequences_(&sequences), id_(id) {}
  KvSequence(const KvSequence&) = delete;
  KvSequence& operator=(const KvSequence&) = delete;
  ~KvSequence() { sequences_->GiveBack(id_); }

  // Null: none is left.
  static std::unique_ptr<KvSequence> Take(KvSequences& sequences);
  int32_t id() const { return id_; }

 private:
  KvSequences* const sequences_;
  const int32_t id_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_KV_H_
