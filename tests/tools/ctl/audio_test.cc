#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/tools/ctl/temp_file.h"
#include "tools/ctl/base/file_bytes.h"
#include "tools/ctl/speech/audio_kind.h"
#include "tools/ctl/speech/live_feeder.h"
#include "tools/ctl/speech/pcm_reader.h"

namespace superfluid::ctl {
namespace {

using testing::HasSubstr;

constexpr linkw::PcmFormat kRaw = {8000, 1, linkw::SampleFormat::kS16};

OwnedFd OpenFile(const std::string& path) { return OwnedFd(open(path.c_str(), O_RDONLY)); }

absl::StatusOr<PcmReader> OpenBytes(std::string_view bytes, PcmKind kind = PcmKind::kWavOrRaw) {
  return PcmReader::Open(OpenFile(WriteTempFile("audio.wav", bytes)), "audio.wav", kRaw, kind);
}

// A worker that is never behind.
absl::Duration EverythingConsumed() { return absl::InfiniteDuration(); }

// Everything up to the end, a few bytes at a time.
std::string ReadAll(PcmReader& reader) {
  std::string all;
  while (true) {
    absl::StatusOr<std::string> part = reader.Read(7);
    EXPECT_TRUE(part.ok()) << part.status();
    if (!part.ok() || part->empty()) return all;
    all += *part;
  }
}

struct Pipe {
  Pipe() {
    std::array<int, 2> fds = {};
    EXPECT_EQ(pipe2(fds.data(), O_CLOEXEC), 0);
    read_end.Reset(fds[0]);
    write_end.Reset(fds[1]);
  }
  OwnedFd read_end;
  OwnedFd write_end;
};

TEST(PcmReaderTest, TakesWhatIsNoWavAsRaw) {
  absl::StatusOr<PcmReader> reader = OpenBytes("raw samples of some length");
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->format(), kRaw);
  EXPECT_EQ(reader->bytes_per_second(), 16000u);
  EXPECT_EQ(ReadAll(*reader), "raw samples of some length");
}

TEST(PcmReaderTest, TakesAFileThatIsShorterThanAnyHeader) {
  absl::StatusOr<PcmReader> reader = OpenBytes("abc");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadAll(*reader), "abc");
}

TEST(PcmReaderTest, RefusesWhatHasNoSamples) {
  EXPECT_EQ(OpenBytes("").status().message(), "audio.wav is empty");
  const absl::Status header_only = OpenBytes(MakeWav({}, "")).status();
  EXPECT_TRUE(absl::IsInvalidArgument(header_only));
  EXPECT_THAT(std::string(header_only.message()), HasSubstr("no samples"));
  absl::StatusOr<PcmReader> raw = OpenBytes("", PcmKind::kRaw);
  ASSERT_TRUE(raw.ok());
  EXPECT_EQ(raw->Read(10).status().message(), "audio.wav is empty");
}

TEST(PcmReaderTest, TellsRecordingsFromSamples) {
  const std::vector<std::string> recordings = {"fLaC and more of it",
                                               "OggS and more of it",
                                               "ID3 and more of it",
                                               "RIFF1234AVI and more",
                                               "RF641234WAVE and more",
                                               "FORM1234AIFF and more",
                                               std::string("\0\0\0 ftypM4A and more", 20)};
  for (const std::string& bytes : recordings) {
    const absl::Status status = OpenBytes(bytes).status();
    EXPECT_TRUE(absl::IsUnimplemented(status)) << bytes << ": " << status;
    EXPECT_TRUE(absl::IsUnimplemented(OpenBytes(bytes, PcmKind::kWav).status()));
    EXPECT_TRUE(OpenBytes(bytes, PcmKind::kRaw).ok());
  }
  EXPECT_THAT(std::string(OpenBytes(recordings[0]).status().message()),
              HasSubstr("it is a FLAC file"));
}

TEST(PcmReaderTest, TakesNothingButWavWhenTold) {
  const absl::Status status = OpenBytes("raw samples of some length", PcmKind::kWav).status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("no WAV file"));
}

TEST(PcmReaderTest, ReadsAWavFileToTheEndOfItsSamples) {
  const std::string wav =
      MakeWav({.channels = 2, .rate_hz = 44100, .data_length = 8}, "samples!LIST of tags");
  absl::StatusOr<PcmReader> reader = OpenBytes(wav);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->format(), (linkw::PcmFormat{44100, 2, linkw::SampleFormat::kS16}));
  EXPECT_EQ(ReadAll(*reader), "samples!");
}

TEST(PcmReaderTest, ReadsAWavStreamOfUnknownLength) {
  for (const uint32_t length : {0u, 0xFFFFFFFFu}) {
    absl::StatusOr<PcmReader> reader =
        OpenBytes(MakeWav({.kind = 3, .bits = 32, .data_length = length}, "samples"));
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(reader->format().sample_format, linkw::SampleFormat::kF32);
    EXPECT_EQ(ReadAll(*reader), "samples");
  }
}

TEST(PcmReaderTest, SkipsOtherChunksAndTheirPadding) {
  std::string chunk = "LIST";
  AppendNumber(&chunk, 3, 4);
  chunk += "abc";
  chunk.push_back('\0');
  absl::StatusOr<PcmReader> reader =
      OpenBytes(MakeWav({.data_length = 2, .extra_chunk = chunk}, "ok"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(ReadAll(*reader), "ok");
}

TEST(PcmReaderTest, SendsAWavFileAsItIsWhenTold) {
  const std::string wav = MakeWav({.data_length = 2}, "ok");
  absl::StatusOr<PcmReader> reader = OpenBytes(wav, PcmKind::kRaw);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadAll(*reader), wav);
}

TEST(PcmReaderTest, RefusesOtherKindsOfSamples) {
  struct Case {
    WavSpec spec;
    const char* text = "";
  };
  for (const Case& other :
       {Case{{.bits = 8}, "8-bit integer"}, Case{{.bits = 24}, "24-bit integer"},
        Case{{.kind = 7, .bits = 8}, "8-bit mu-law"}, Case{{.kind = 3, .bits = 64}, "64-bit float"},
        Case{{.kind = 999}, "16-bit (kind 999)"}}) {
    const absl::Status status = OpenBytes(MakeWav(other.spec, "x")).status();
    EXPECT_TRUE(absl::IsUnimplemented(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr(other.text));
  }
}

TEST(PcmReaderTest, RefusesDamagedHeaders) {
  const std::string wav = MakeWav({}, "");
  for (size_t length = kAudioKindBytes; length < wav.size(); ++length) {
    EXPECT_TRUE(absl::IsInvalidArgument(OpenBytes(wav.substr(0, length)).status())) << length;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(OpenBytes(MakeWav({.channels = 0}, "")).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(OpenBytes(MakeWav({.rate_hz = 0}, "")).status()));
  std::string no_format = wav.substr(0, 12) + wav.substr(36);
  EXPECT_TRUE(absl::IsInvalidArgument(OpenBytes(no_format).status()));
  std::string huge_format = wav;
  huge_format.replace(16, 4, "\xFF\xFF\xFF\x7F");
  EXPECT_TRUE(absl::IsInvalidArgument(OpenBytes(huge_format).status()));
}

TEST(PcmReaderTest, AsksForTheEndOnce) {
  for (const absl::Status& end : {absl::OkStatus(), absl::DataLossError("cut short")}) {
    absl::StatusOr<PcmReader> reader = OpenBytes("samples and more", PcmKind::kRaw);
    ASSERT_TRUE(reader.ok());
    int asked = 0;
    reader->CheckEndBy([&asked, &end] {
      ++asked;
      return end;
    });
    EXPECT_EQ(*reader->Read(100), "samples and more");
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(reader->Read(100).status(), end);
    EXPECT_TRUE(reader->Read(100).ok());
    EXPECT_EQ(asked, 1);
  }
}

TEST(PcmReaderTest, ReportsWhatCannotBeRead) {
  const absl::Status status =
      PcmReader::Open(OpenFile(testing::TempDir()), "a folder", kRaw).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a folder"));
}

TEST(PcmReaderTest, StopsWaitingWhenTold) {
  Pipe pipe;
  absl::StatusOr<PcmReader> reader =
      PcmReader::Open(std::move(pipe.read_end), "pipe", kRaw, PcmKind::kRaw);
  ASSERT_TRUE(reader.ok());
  const OwnedFd stop(eventfd(1, EFD_CLOEXEC));
  EXPECT_TRUE(absl::IsCancelled(reader->Read(10, stop.get()).status()));
}

TEST(FileBytesTest, ReadsAFileIntoSharedMemory) {
  const OwnedFd fd = OpenFile(WriteTempFile("bytes", "some bytes"));
  absl::StatusOr<SharedBytes> bytes = ReadIntoSharedMemory(fd.get(), "bytes");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->length, 10u);
  EXPECT_EQ(std::memcmp(bytes->segment.data(), "some bytes", 10), 0);
}

TEST(FileBytesTest, ReadsAPipeOfAnyLength) {
  Pipe pipe;
  const std::string text(3'000'000, 'x');
  std::thread writer([&] {
    size_t written = 0;
    while (written < text.size()) {
      const ssize_t n = write(pipe.write_end.get(), text.data() + written, text.size() - written);
      ASSERT_GT(n, 0);
      written += static_cast<size_t>(n);
    }
    pipe.write_end.Reset();
  });
  absl::StatusOr<SharedBytes> bytes = ReadIntoSharedMemory(pipe.read_end.get(), "pipe");
  writer.join();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  ASSERT_EQ(bytes->length, text.size());
  EXPECT_EQ(std::memcmp(bytes->segment.data(), text.data(), text.size()), 0);
}

TEST(FileBytesTest, RefusesAPipeWithoutAnEnd) {
  const OwnedFd endless = OpenFile("/dev/zero");
  const absl::Status status =
      ReadIntoSharedMemory(endless.get(), "/dev/zero", {}, uint64_t{4} << 20).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/dev/zero has more than 4.0 MiB and no end"));
}

TEST(FileBytesTest, PutsWhatWasReadBeforeInFront) {
  const OwnedFd fd = OpenFile(WriteTempFile("rest", " and the rest"));
  absl::StatusOr<SharedBytes> bytes = ReadIntoSharedMemory(fd.get(), "rest", "the beginning");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes->segment.data()), bytes->length),
            "the beginning and the rest");
}

TEST(FileBytesTest, RefusesNothing) {
  const OwnedFd fd = OpenFile(WriteTempFile("empty", ""));
  const absl::Status status = ReadIntoSharedMemory(fd.get(), "empty").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(), "empty is empty");
}

TEST(FileBytesTest, KnowsAFileByItsOtherNames) {
  const std::string file = WriteTempFile("one", "x");
  const std::string soft = testing::TempDir() + "/soft";
  const std::string hard = testing::TempDir() + "/hard";
  std::filesystem::remove(soft);
  std::filesystem::remove(hard);
  std::filesystem::create_symlink(file, soft);
  std::filesystem::create_hard_link(file, hard);
  for (const std::string& name : {file, soft, hard, testing::TempDir() + "/./one"}) {
    EXPECT_TRUE(IsSameFile(name, file, -1)) << name;
    EXPECT_TRUE(IsSameFile(name, "-", OpenFile(file).get())) << name;
  }
  EXPECT_FALSE(IsSameFile(WriteTempFile("two", "x"), file, -1));
  EXPECT_FALSE(IsSameFile("/nowhere/at/all", file, -1));
  EXPECT_FALSE(IsSameFile(file, "/nowhere/at/all", -1));
  EXPECT_FALSE(IsSameFile("/dev/null", "/dev/null", -1));
}

TEST(FileBytesTest, ReportsWhatCannotBeReadOrOpened) {
  const OwnedFd fd = OpenFile(testing::TempDir());
  EXPECT_EQ(ReadIntoSharedMemory(fd.get(), "a folder").status().code(),
            absl::StatusCode::kInternal);
  const absl::Status missing = OpenInput("/nowhere/at/all", 0).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/nowhere/at/all"));
}

// What a feeder pushed, in one string, with a '|' at the end.
class LiveFeederTest : public testing::Test {
 protected:
  PushSamples Collect() {
    return [this](const std::string& samples, bool end) {
      pushed_ += samples;
      if (end) {
        pushed_ += '|';
        done_.Notify();
      }
      return absl::OkStatus();
    };
  }

  std::string pushed_;
  absl::Notification done_;
};

TEST_F(LiveFeederTest, FeedsEverythingThenTheEnd) {
  absl::StatusOr<PcmReader> reader = OpenBytes("all of the samples");
  ASSERT_TRUE(reader.ok());
  LiveFeeder feeder(*reader, /*speed=*/0, Collect(), EverythingConsumed,
                    [](const absl::Status&) { FAIL(); });
  done_.WaitForNotification();
  EXPECT_EQ(pushed_, "all of the samples|");
}

TEST_F(LiveFeederTest, KeepsToItsSpeed) {
  absl::StatusOr<PcmReader> reader = OpenBytes(std::string(1600, 'x'));  // 0.1 s
  ASSERT_TRUE(reader.ok());
  const absl::Time start = absl::Now();
  LiveFeeder feeder(*reader, /*speed=*/2, Collect(), EverythingConsumed,
                    [](const absl::Status&) { FAIL(); });
  done_.WaitForNotification();
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(45));
}

TEST_F(LiveFeederTest, StopsWhileNothingComes) {
  Pipe pipe;
  absl::StatusOr<PcmReader> reader =
      PcmReader::Open(std::move(pipe.read_end), "pipe", kRaw, PcmKind::kRaw);
  ASSERT_TRUE(reader.ok());
  {
    LiveFeeder feeder(*reader, 0, Collect(), EverythingConsumed,
                      [](const absl::Status&) { FAIL(); });
  }
  EXPECT_EQ(pushed_, "");
}

TEST_F(LiveFeederTest, StopsInsideAPause) {
  absl::StatusOr<PcmReader> reader = OpenBytes(std::string(16000, 'x'));
  ASSERT_TRUE(reader.ok());
  {
    LiveFeeder feeder(*reader, 0.001, Collect(), EverythingConsumed,
                      [](const absl::Status&) { FAIL(); });
  }
  EXPECT_EQ(pushed_, "");
}

// Nothing is consumed until everything that may be ahead is, then as it is pushed.
TEST_F(LiveFeederTest, WaitsForWhatIsConsumed) {
  const std::string samples(size_t{40} * 16000, 'x');  // 40 s
  absl::StatusOr<PcmReader> reader = OpenBytes(samples);
  ASSERT_TRUE(reader.ok());
  std::atomic<int64_t> consumed_ms = 0;
  std::atomic<int64_t> pushed_ms = 0;
  std::atomic<int64_t> max_lead_ms = 0;
  const auto push = [&](const std::string& part, bool end) {
    pushed_ms += static_cast<int64_t>(part.size()) / 16;
    max_lead_ms = std::max(max_lead_ms.load(), pushed_ms - consumed_ms);
    pushed_ += part;
    if (end) done_.Notify();
    return absl::OkStatus();
  };
  // The engine works only when the feeder waits.
  const auto consumed = [&] {
    if (pushed_ms - consumed_ms > 14'500) consumed_ms += 10'000;
    return absl::Milliseconds(consumed_ms.load());
  };
  LiveFeeder feeder(*reader, 0, push, consumed, [](const absl::Status&) { FAIL(); });
  done_.WaitForNotification();
  EXPECT_EQ(pushed_.size(), samples.size());
  EXPECT_GT(max_lead_ms, 14'000);
  EXPECT_LE(max_lead_ms, 15'100);
}

TEST_F(LiveFeederTest, StopsWhileNothingIsConsumed) {
  absl::StatusOr<PcmReader> reader = OpenBytes(std::string(size_t{40} * 16000, 'x'));
  ASSERT_TRUE(reader.ok());
  absl::Notification looked;
  const auto consumed = [&] {
    if (pushed_.size() >= size_t{14} * 16000 && !looked.HasBeenNotified()) looked.Notify();
    return absl::ZeroDuration();
  };
  {
    LiveFeeder feeder(*reader, 0, Collect(), consumed, [](const absl::Status&) { FAIL(); });
    looked.WaitForNotification();
  }
  EXPECT_LE(pushed_.size(), 15 * 16000u);
}

TEST_F(LiveFeederTest, ReportsAReaderThatFails) {
  absl::StatusOr<PcmReader> reader =
      PcmReader::Open(OpenFile(testing::TempDir()), "a folder", kRaw, PcmKind::kRaw);
  ASSERT_TRUE(reader.ok());
  std::promise<absl::Status> error;
  LiveFeeder feeder(*reader, 0, Collect(), EverythingConsumed,
                    [&](const absl::Status& status) { error.set_value(status); });
  EXPECT_EQ(error.get_future().get().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace superfluid::ctl
