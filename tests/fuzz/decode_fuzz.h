#ifndef SUPERFLUID_TESTS_FUZZ_DECODE_FUZZ_H_
#define SUPERFLUID_TESTS_FUZZ_DECODE_FUZZ_H_

#include <string_view>

namespace superfluid::fuzz {

// Decodes `bytes` as a recording, in this process and without the sandbox. Aborts if something that
// always holds does not: what is written is what the report says and within the limit, a text says
// why a recording was refused.
void FuzzDecode(std::string_view bytes);

}  // namespace superfluid::fuzz

#endif  // SUPERFLUID_TESTS_FUZZ_DECODE_FUZZ_H_
