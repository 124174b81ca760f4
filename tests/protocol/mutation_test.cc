// The fuzz targets' bodies over the committed corpus, over valid messages, and over a bounded
// number of mutations of both. LINKW_SEED repeats a failed run.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/codec/codec.h"
#include "protocol/frames/frame.h"
#include "tests/fuzz/codec_fuzz.h"
#include "tests/fuzz/frame_decoder_fuzz.h"
#include "tests/fuzz/mutator.h"
#include "tests/protocol/samples.h"
#include "tests/protocol/seed_of_test.h"

namespace superfluid::linkw {
namespace {

constexpr int kMutationsPerInput = 50;

std::vector<std::string> ReadCorpus(const std::string& folder) {
  std::vector<std::string> inputs;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/" + folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

void RunWithMutations(const std::vector<std::string>& inputs, void (*fuzz_one)(std::string_view)) {
  ASSERT_FALSE(inputs.empty());
  const uint64_t seed = SeedOfTest();
  std::cout << "LINKW_SEED=" << seed << std::endl;  // also if the process dies
  fuzz::Mutator mutator(seed);
  for (const std::string& input : inputs) {
    fuzz_one(input);
    for (int i = 0; i < kMutationsPerInput; ++i) fuzz_one(mutator.Mutate(input, inputs));
  }
}

std::vector<EncodedMessage> EncodedSamples() {
  std::vector<EncodedMessage> encoded;
  for (const DriverMessage& sample : DriverSamples()) encoded.push_back(Serialize(sample));
  for (const WorkerMessage& sample : WorkerSamples()) encoded.push_back(Serialize(sample));
  return encoded;
}

TEST(MutationTest, CodecsSurviveAnyBytes) {
  std::vector<std::string> inputs = ReadCorpus("codec_corpus");
  for (const EncodedMessage& sample : EncodedSamples()) {
    const auto type = static_cast<uint16_t>(sample.type);
    inputs.push_back(std::string{static_cast<char>(type & 0xff), static_cast<char>(type >> 8)} +
                     sample.payload);
  }
  RunWithMutations(inputs, fuzz::FuzzCodec);
}

TEST(MutationTest, TheDecoderSurvivesAnyBytes) {
  std::vector<std::string> inputs = ReadCorpus("frame_decoder_corpus");
  FrameEncoder encoder;
  std::string stream;
  for (const EncodedMessage& sample : EncodedSamples()) {
    stream += *encoder.Encode(sample.type, 1, sample.payload);
    inputs.push_back(*FrameEncoder().Encode(sample.type, 1, sample.payload));
  }
  inputs.push_back(stream);
  RunWithMutations(inputs, fuzz::FuzzFrameDecoder);
}

// A header whose checksum is right, so that the mutation reaches what lies behind it.
TEST(MutationTest, TheDecoderSurvivesAnyHeader) {
  std::mt19937_64 random(SeedOfTest());
  for (int i = 0; i < 3000; ++i) {
    FrameHeader header;
    header.proto_version = random() % 8 == 0 ? static_cast<uint16_t>(random()) : 8;
    header.type = static_cast<uint16_t>(random() % 2 == 0 ? random() : random() % 0x90);
    header.seq = random() % 8 == 0 ? random() : 1;
    header.correlation = random();
    std::string payload(random() % 64, static_cast<char>(random()));
    std::string frame = EncodeFrame(header, payload);
    if (random() % 4 == 0) frame.resize(random() % frame.size());
    fuzz::FuzzFrameDecoder(frame + frame);
  }
}

}  // namespace
}  // namespace superfluid::linkw
