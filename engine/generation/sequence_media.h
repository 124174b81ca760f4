#ifndef SUPERFLUID_ENGINE_GENERATION_SEQUENCE_MEDIA_H_
#define SUPERFLUID_ENGINE_GENERATION_SEQUENCE_MEDIA_H_

#include <cstdint>
#include <functional>
#include <map>

#include "engine/cache/token_provenance.h"
#include "engine/generation/media_item.h"
#include "engine/handles.h"

namespace superfluid {

// Which of a sequence's tokens stand for media. Each is marked with the fingerprint, which says
// what the state was computed from; the items are what it takes to compute them (again), and are
// not there for a sequence that was restored.
//
// Threads: one.
class SequenceMedia {
 public:
  // Tokens of one kind, from a position on.
  struct Run {
    uint64_t end = 0;                 // the first position that is of another kind
    const MediaPart* part = nullptr;  // null: plain tokens, or an item that is not there
    uint64_t index = 0;               // of the position in the part
    bool missing = false;             // the item is not there
  };

  bool empty() const { return marks_.empty(); }
  // By position.
  const MediaMap& marks() const { return marks_; }

  // The item's tokens begin at `start`, behind all that is marked.
  void Add(uint64_t start, MediaItemRef item);
  // Marks a token behind all that is marked, without an item.
  void Mark(uint64_t position, uint64_t fingerprint) { marks_[position] = fingerprint; }
  // Only marks, and no items.
  void Replace(MediaMap marks);
  void Cut(uint64_t length);

  // Finds items for marked tokens without one. `find` gives null for a fingerprint that it does not
  // know.
  void Attach(const std::function<MediaItemRef(uint64_t fingerprint)>& find);

  Run At(uint64_t position) const;
  // Whether all that it takes to compute [start, end) is there.
  bool Complete(uint64_t start, uint64_t end) const;
  // Whether the position lies within a part whose tokens are computed at once, so that the sequence
  // cannot be cut there.
  bool Splits(uint64_t position) const;

 private:
  // The item that the token stands for; null: none, or it is not there.
  const MediaItem* ItemAt(uint64_t position, uint64_t& start) const;

  MediaMap marks_;
  std::map<uint64_t, MediaItemRef> items_;  // by where they begin
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_SEQUENCE_MEDIA_H_
