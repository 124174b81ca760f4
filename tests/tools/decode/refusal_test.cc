// What is no recording, or too much of one, ends with a text that says so.

#include <sys/stat.h>

#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/decode/decode_fixture.h"

namespace superfluid::decode {
namespace {

using testing::HasSubstr;

class RefusalTest : public DecodeFixture {
 protected:
  static void ExpectRefusal(const Decoded& decoded, absl::StatusCode code,
                            const std::string& text) {
    EXPECT_EQ(decoded.summary.status().code(), code) << decoded.summary.status();
    EXPECT_THAT(std::string(decoded.summary.status().message()), HasSubstr(text));
  }
};

TEST_F(RefusalTest, OfAnEmptyFile) {
  ExpectRefusal(DecodeBytes(""), absl::StatusCode::kInvalidArgument, "it is empty");
}

TEST_F(RefusalTest, OfAFolder) {
  ExpectRefusal(DecodeFile(testing::TempDir()), absl::StatusCode::kInvalidArgument, "folder");
}

TEST_F(RefusalTest, OfText) {
  ExpectRefusal(DecodeBytes("Four score and seven years ago our fathers brought forth"),
                absl::StatusCode::kInvalidArgument, "no recording");
}

TEST_F(RefusalTest, OfAPlaylistThatNamesOtherFiles) {
  ExpectRefusal(DecodeBytes("#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n"
                            "/etc/passwd\n#EXT-X-ENDLIST\n"),
                absl::StatusCode::kInvalidArgument, "list of other files (hls)");
}

TEST_F(RefusalTest, OfAConcatScript) {
  ExpectRefusal(DecodeBytes("ffconcat version 1.0\nfile /etc/passwd\nfile /etc/group\n"),
                absl::StatusCode::kInvalidArgument, "list of other files (concat)");
}

TEST_F(RefusalTest, OfAPicture) {
  const std::string path =
      MakeMedia("picture.png", {"-f", "lavfi", "-i", "testsrc=size=64x64", "-frames:v", "1"});
  ExpectRefusal(DecodeFile(path), absl::StatusCode::kInvalidArgument,
                "is none that recordings come in");
}

TEST_F(RefusalTest, OfASilentFilm) {
  const std::string path = MakeMedia(
      "film.mp4", {"-f", "lavfi", "-i", "testsrc=size=64x64:duration=1", "-c:v", "mpeg4"});
  ExpectRefusal(DecodeFile(path), absl::StatusCode::kInvalidArgument, "it has no sound");
}

TEST_F(RefusalTest, OfMoreBytesThanAreAllowed) {
  ExpectRefusal(DecodeBytes(AmrBytes(10), {.max_input_bytes = 100}),
                absl::StatusCode::kResourceExhausted, "more than the 100 that are allowed");
}

TEST_F(RefusalTest, OfMoreBytesThroughAPipeThanAreAllowed) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  const OwnedFd reading(ends[0]);
  OwnedFd writing(ends[1]);
  const std::string bytes = AmrBytes(1000);
  ASSERT_EQ(write(writing.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  writing.Reset();
  ExpectRefusal(Decode(reading.get(), {.max_input_bytes = 20000}),
                absl::StatusCode::kResourceExhausted, "more bytes than are allowed");
}

TEST_F(RefusalTest, OfMoreSoundThanIsAllowedComesAfterWhatIs) {
  const Decoded decoded = DecodeBytes(AmrBytes(200), {.max_seconds = 2});
  ExpectRefusal(decoded, absl::StatusCode::kResourceExhausted, "longer than the 2 s");
  EXPECT_EQ(decoded.samples.size(), 32000u);
}

// A few bytes a second of sound: the price is its own request's.
TEST_F(RefusalTest, OfADecoderBomb) {
  std::string silence = "#!AMR\n";
  silence.append(2'000'000, 0x7C);  // frames of one byte and 20 ms: eleven hours
  const Decoded decoded = DecodeBytes(silence, {.max_seconds = 60});
  ExpectRefusal(decoded, absl::StatusCode::kResourceExhausted, "longer than the 60 s");
}

TEST_F(RefusalTest, OfMoreCpuTimeThanIsAllowed) {
  std::string silence = "#!AMR\n";
  silence.append(20'000'000, 0x7C);
  const Decoded decoded = DecodeBytes(silence, {.max_seconds = 1'000'000, .cpu_seconds = 1});
  ExpectRefusal(decoded, absl::StatusCode::kResourceExhausted, "1 s of CPU time");
}

TEST_F(RefusalTest, OfMoreMemoryThanIsAllowed) {
  const std::string path = MakeMedia("memory.m4a", Tone(1));
  ExpectRefusal(DecodeFile(path, {.memory_bytes = 1 << 16}), absl::StatusCode::kResourceExhausted,
                "memory");
}

TEST_F(RefusalTest, OfAFileThatWasCutShortComesAfterWhatIsThere) {
  const std::string path = MakeMedia("whole.mp4", [] {
    std::vector<std::string> arguments = Tone(20);
    for (const char* argument : {"-c:a", "aac", "-movflags", "+faststart"}) {
      arguments.emplace_back(argument);
    }
    return arguments;
  }());
  std::string bytes = ReadFile(path);
  bytes.resize(bytes.size() / 2);
  const Decoded decoded = DecodeBytes(bytes);
  ExpectRefusal(decoded, absl::StatusCode::kInvalidArgument, "it ends after ");
  EXPECT_GT(decoded.seconds(), 5);
}

TEST_F(RefusalTest, OfAnMp4WithoutItsIndex) {
  std::string bytes = ReadFile(MakeMedia("index.m4a", Tone(5)));
  bytes.resize(bytes.size() / 2);
  ExpectRefusal(DecodeBytes(bytes), absl::StatusCode::kInvalidArgument,
                "its header cannot be read");
}

TEST_F(RefusalTest, OfRandomBytes) {
  std::mt19937_64 random(11);  // NOLINT: the same bytes each time
  for (int round = 0; round < 8; ++round) {
    std::string bytes(10'000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const Decoded decoded = DecodeBytes(bytes);
    EXPECT_EQ(decoded.summary.status().code(), absl::StatusCode::kInvalidArgument)
        << round << ": " << decoded.summary.status();
  }
}

// Nothing worse than an error or a note, whichever bytes are changed.
TEST_F(RefusalTest, OrANoteIsAllThatDamageCosts) {
  std::mt19937_64 random(12);  // NOLINT: the same bytes each time
  for (const char* name : {"damage.m4a", "damage.webm", "damage.wma", "damage.aac"}) {
    const std::string whole = ReadFile(MakeMedia(name, Tone(1)));
    for (int round = 0; round < 6; ++round) {
      std::string bytes = whole;
      for (int change = 0; change < 40; ++change) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      const absl::Status status = DecodeBytes(bytes).summary.status();
      EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status) ||
                  absl::IsResourceExhausted(status))
          << name << ": " << status;
    }
  }
}

}  // namespace
}  // namespace superfluid::decode
