#ifndef SUPERFLUID_ENGINE_SDK_SHIM_TYPES_H_
#define SUPERFLUID_ENGINE_SDK_SHIM_TYPES_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/abi/sized_struct.h"
#include "engine/abi/status_codes.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/engine.h"

// What the parts of the shim share.

// The opaque types of the C interface, as this kind of plug-in has them.
struct sfl_engine {
  std::unique_ptr<superfluid::Engine> engine;
};

struct sfl_transcription {
  std::unique_ptr<superfluid::TranscriptionJob> job;
};

struct sfl_state_job {
  std::unique_ptr<superfluid::StateJob> job;
};

namespace superfluid::sdk {

// Runs `body`, a function returning Status; nothing it throws gets out.
template <typename Body>
sfl_status Guarded(sfl_error* error, Body&& body) noexcept {
  try {
    try {
      return StatusToAbi(body(), error);
    } catch (...) {
      return StatusToAbi(StatusFromCurrentException("the engine"), error);
    }
  } catch (...) {
    // Not even memory for the message.
    return SFL_RESOURCE_EXHAUSTED;
  }
}

// The same with the engine's Generation; UNIMPLEMENTED if it has none.
template <typename Body>
sfl_status WithGeneration(sfl_engine* engine, sfl_error* error, Body&& body) noexcept {
  return Guarded(error, [&]() -> absl::Status {
    Generation* const generation = engine->engine->generation();
    if (generation == nullptr) return absl::UnimplementedError("the engine does not generate");
    return body(*generation);
  });
}

// Puts a handle or number that a call returned where the host wants it.
template <typename T>
absl::Status Put(const absl::StatusOr<T>& result, uint64_t* out) {
  if (result.ok()) *out = static_cast<uint64_t>(*result);
  return result.status();
}

inline std::string Copied(sfl_string text) {
  return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

inline absl::string_view View(sfl_string text) { return absl::string_view(text.data, text.size); }

// Copies `text` into a fixed array, cut to fit and NUL-terminated.
template <size_t Capacity>
void CopyToArray(absl::string_view text, char (&array)[Capacity]) {
  const size_t size = std::min(text.size(), Capacity - 1);
  std::memcpy(array, text.data(), size);
  array[size] = '\0';
}

inline void FillOutput(absl::string_view text, sfl_output& output) {
  const size_t size = std::min(text.size(), output.capacity);
  if (output.data != nullptr && size > 0) std::memcpy(output.data, text.data(), size);
  output.size = text.size();
}

// Writes what fits of `values` to the host's list: `convert(value, element)` for each.
template <typename Element, typename Values, typename Convert>
void FillList(const Values& values, sfl_list& list, Convert&& convert) {
  const size_t count = std::min<size_t>(values.size(), list.capacity);
  for (size_t i = 0; i < count; ++i) {
    Element* const element = SFL_AT(Element, &list, i);
    if constexpr (SizedStruct<Element>) {
      FillIn(element, [&](Element& copy) { convert(values[i], copy); });
    } else {
      convert(values[i], *element);
    }
  }
  list.count = values.size();
}

inline sfl_digest DigestToHost(const Digest& digest) {
  sfl_digest copy;
  std::copy(digest.begin(), digest.end(), std::begin(copy.bytes));
  return copy;
}

inline Digest DigestFromHost(const sfl_digest& digest) {
  Digest copy{};
  std::copy(std::begin(digest.bytes), std::end(digest.bytes), copy.begin());
  return copy;
}

inline void SpaceToHost(const StateSpace& space, sfl_state_space& raw) {
  raw.id = static_cast<uint32_t>(space.id);
  raw.bytes_per_token = space.bytes_per_token;
  raw.boundary_tokens = space.boundary_tokens;
  raw.encodings = space.encodings;
  raw.compat_key = DigestToHost(space.compat_key);
  CopyToArray(space.name, raw.name);
}

// These fill in their part of the table.
void AddTicks(sfl_engine_vtable& table) noexcept;
void AddSequences(sfl_engine_vtable& table) noexcept;
void AddState(sfl_engine_vtable& table) noexcept;
void AddCache(sfl_engine_vtable& table) noexcept;
void AddModel(sfl_engine_vtable& table) noexcept;
void AddStrategies(sfl_engine_vtable& table) noexcept;

}  // namespace superfluid::sdk

#endif  // SUPERFLUID_ENGINE_SDK_SHIM_TYPES_H_
