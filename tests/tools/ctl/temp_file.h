#ifndef SUPERFLUID_TESTS_TOOLS_CTL_TEMP_FILE_H_
#define SUPERFLUID_TESTS_TOOLS_CTL_TEMP_FILE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace superfluid::ctl {

// A file of the test's, with these bytes. Returns its path.
inline std::string WriteTempFile(const std::string& name, std::string_view bytes) {
  std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline void AppendNumber(std::string* bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes->push_back(static_cast<char>(value >> (8 * i)));
}

struct WavSpec {
  uint16_t kind = 1;
  uint16_t channels = 1;
  uint32_t rate_hz = 16000;
  uint16_t bits = 16;
  uint32_t data_length = 0;  // what the header claims
  std::string extra_chunk;   // between "fmt " and "data", whole
};

// A WAV file: a header and, behind it, `samples`.
inline std::string MakeWav(const WavSpec& spec, std::string_view samples) {
  std::string wav = "RIFF";
  AppendNumber(&wav, 36 + samples.size(), 4);
  wav += "WAVEfmt ";
  AppendNumber(&wav, 16, 4);
  AppendNumber(&wav, spec.kind, 2);
  AppendNumber(&wav, spec.channels, 2);
  AppendNumber(&wav, spec.rate_hz, 4);
  AppendNumber(&wav, uint64_t{spec.rate_hz} * spec.channels * spec.bits / 8, 4);
  AppendNumber(&wav, uint64_t{spec.channels} * spec.bits / 8, 2);
  AppendNumber(&wav, spec.bits, 2);
  wav += spec.extra_chunk;
  wav += "data";
  AppendNumber(&wav, spec.data_length, 4);
  wav += samples;
  return wav;
}

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TESTS_TOOLS_CTL_TEMP_FILE_H_
