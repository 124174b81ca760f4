#include "tests/tools/decode/media.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "gtest/gtest.h"

namespace superfluid::decode {
namespace {

constexpr char kFfmpeg[] = "/usr/bin/ffmpeg";

// Its exit status; -1: it could not be started.
int RunFfmpeg(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t pid = -1;
  if (posix_spawn(&pid, kFfmpeg, nullptr, nullptr, pointers.data(), environ) != 0) return -1;
  int status = 0;
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

}  // namespace

std::string MakeMedia(const std::string& name, const std::vector<std::string>& arguments) {
  std::string path = testing::TempDir() + "/" + name;
  std::vector<std::string> all = {"ffmpeg", "-nostdin", "-loglevel", "error", "-y"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.push_back(path);
  EXPECT_EQ(RunFfmpeg(all), 0) << "ffmpeg did not make " << path;
  return path;
}

std::vector<std::string> Tone(double seconds, int rate_hz) {
  std::ostringstream source;
  source << "sine=frequency=440:sample_rate=" << rate_hz << ":duration=" << seconds;
  return {"-f", "lavfi", "-i", source.str()};
}

std::string WriteFile(const std::string& name, const std::string& bytes) {
  std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

OwnedFd OpenFile(const std::string& path) {
  OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(fd.valid()) << path;
  return fd;
}

OwnedFd MemfdOf(const std::string& bytes) {
  OwnedFd fd(memfd_create("recording", MFD_CLOEXEC));
  EXPECT_EQ(write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return fd;
}

std::string AmrBytes(size_t frames) {
  constexpr char kHeader[] = "#!AMR\n";
  constexpr char kMode122 = 0x3C;  // 12.2 kbit/s, of good quality
  constexpr size_t kFrameBytes = 31;
  std::mt19937 random(7);  // NOLINT: the same bytes each time
  std::string bytes = kHeader;
  for (size_t frame = 0; frame < frames; ++frame) {
    bytes += kMode122;
    for (size_t at = 0; at < kFrameBytes; ++at) bytes += static_cast<char>(random());
  }
  return bytes;
}

std::vector<float> ReadSamples(int fd) {
  std::string bytes;
  std::array<char, 65536> block;
  ssize_t got = 0;
  while ((got = read(fd, block.data(), block.size())) > 0) {
    bytes.append(block.data(), static_cast<size_t>(got));
  }
  EXPECT_EQ(bytes.size() % sizeof(float), 0u);
  std::vector<float> samples(bytes.size() / sizeof(float));
  std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(float));
  return samples;
}

double FrequencyOf(const std::vector<float>& samples) {
  if (samples.empty()) return 0;
  constexpr float kHysteresis = 0.02F;  // more than an encoder makes of silence
  int rises = 0;
  bool below = false;
  for (const float sample : samples) {
    if (below && sample > kHysteresis) ++rises;
    if (sample > kHysteresis || sample < -kHysteresis) below = sample < 0;
  }
  return rises * 16000.0 / static_cast<double>(samples.size());
}

}  // namespace superfluid::decode
