#include <cstddef>
#include <cstdint>

#include "tests/fuzz/frame_decoder_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  superfluid::fuzz::FuzzFrameDecoder({reinterpret_cast<const char*>(data), size});
  return 0;
}
