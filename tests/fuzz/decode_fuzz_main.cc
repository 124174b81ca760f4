#include <cstddef>
#include <cstdint>

#include "tests/fuzz/decode_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  superfluid::fuzz::FuzzDecode({reinterpret_cast<const char*>(data), size});
  return 0;
}
