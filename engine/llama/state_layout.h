#ifndef SUPERFLUID_ENGINE_LLAMA_STATE_LAYOUT_H_
#define SUPERFLUID_ENGINE_LLAMA_STATE_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/handles.h"

namespace superfluid {

// How the library writes the state of a sequence. It does not check what it reads (a wrong position
// ends the process), so what comes from outside is compared with the form that is known before the
// library sees it; only the numbers of keys and values may differ. They must be numbers, of a size
// that states have: others would reach every sequence, since the library multiplies all of its
// cells and then leaves out those that are not the sequence's.
//
// The form, little-endian: u32 magic, i32 sequence (older ones have neither); then, once for each
// of the library's caches (two with sliding-window attention): u32 streams, 1; u32 tokens; a token
// i32 position, u32 1, i32 sequence; u32 whether values are transposed; u32 layers; a layer i32
// type, u64 bytes of a row, the keys' rows; then a layer i32 type, u64 bytes of a row, the values'
// rows, or, transposed, i32 type, u32 bytes of an element, u32 rows, for each row the elements of
// all tokens.
class StateLayout {
 public:
  // Learns it from the state of a sequence of `tokens` tokens at positions from 0 on. Otherwise
  // known() stays false: the library has another form.
  void Learn(absl::Span<const std::byte> state, uint64_t tokens);

  bool known() const { return !caches_.empty(); }
  uint64_t bytes_per_token() const { return bytes_per_token_; }        // of an export
  uint64_t kv_bytes_per_token() const { return kv_bytes_per_token_; }  // on the device
  // Of a range of so many tokens.
  uint64_t Bytes(uint64_t tokens) const;
  // Overwrites, without reading, which of the library's sequences the state of so many tokens was
  // written from, so that equal state has equal bytes.
  void HideSequence(absl::Span<std::byte> state, uint64_t tokens) const;
  // Of the form: types, sizes, layers.
  uint64_t Fingerprint() const;
  // InvalidArgument: not this form, other positions than all of the range, each once, or keys and
  // values that cannot be.
  absl::Status Check(absl::Span<const std::byte> state, TokenRange range) const;

 private:
  struct Part {  // keys or values of a layer
    std::vector<std::byte> header;
    int32_t type = 0;        // the library's number of it
    uint64_t row_bytes = 0;  // of a token
  };
  struct Cache {
    std::vector<std::byte> header;  // transposed, layers
    std::vector<Part> parts;
    uint64_t Bytes(uint64_t tokens) const;
  };
  class Parser;

  bool LearnFrom(absl::Span<const std::byte> state, uint64_t tokens, size_t magic_bytes);
  uint64_t StartBytes() const;  // magic and sequence

  std::vector<std::byte> magic_;
  std::vector<Cache> caches_;
  uint64_t bytes_per_token_ = 0;
  uint64_t kv_bytes_per_token_ = 0;
  uint64_t fixed_bytes_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_STATE_LAYOUT_H_
