#include <cstddef>
#include <cstdint>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  superfluid::fuzz::FuzzOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
