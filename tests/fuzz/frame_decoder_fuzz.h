#ifndef SUPERFLUID_TESTS_FUZZ_FRAME_DECODER_FUZZ_H_
#define SUPERFLUID_TESTS_FUZZ_FRAME_DECODER_FUZZ_H_

#include <string_view>

namespace superfluid::fuzz {

// Decodes `bytes` as a stream, in pieces whose sizes the bytes themselves say, and parses what
// comes out as both sides would. Aborts if something that always holds does not: seqs count up,
// payloads obey their limits, an error is sticky, the same stream in one piece gives the same
// frames.
void FuzzFrameDecoder(std::string_view bytes);

}  // namespace superfluid::fuzz

#endif  // SUPERFLUID_TESTS_FUZZ_FRAME_DECODER_FUZZ_H_
