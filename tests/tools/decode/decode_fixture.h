#ifndef SUPERFLUID_TESTS_TOOLS_DECODE_DECODE_FIXTURE_H_
#define SUPERFLUID_TESTS_TOOLS_DECODE_DECODE_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/tools/decode/media.h"
#include "tools/decode/decode_process.h"
#include "tools/decode/decoder_program.h"

namespace superfluid::decode {

// The real program on real files.
class DecodeFixture : public testing::Test {
 protected:
  struct Decoded {
    std::vector<float> samples;
    absl::StatusOr<DecodeSummary> summary;
    double seconds() const { return static_cast<double>(samples.size()) / 16000; }
  };

  static std::unique_ptr<DecodeProcess> Start() {
    const absl::StatusOr<std::string> program = FindDecoder();
    EXPECT_TRUE(program.ok()) << program.status();
    auto process = DecodeProcess::Start(*program);
    EXPECT_TRUE(process.ok()) << process.status();
    return *std::move(process);
  }

  static Decoded Decode(int fd, const DecodeLimits& limits = {}) {
    const std::unique_ptr<DecodeProcess> process = Start();
    EXPECT_TRUE(process->Begin(fd, limits).ok());
    std::vector<float> samples = ReadSamples(process->pcm_fd());
    return {std::move(samples), process->Finish()};
  }

  static Decoded DecodeFile(const std::string& path, const DecodeLimits& limits = {}) {
    return Decode(OpenFile(path).get(), limits);
  }
  static Decoded DecodeBytes(const std::string& bytes, const DecodeLimits& limits = {}) {
    return Decode(MemfdOf(bytes).get(), limits);
  }
};

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TESTS_TOOLS_DECODE_DECODE_FIXTURE_H_
