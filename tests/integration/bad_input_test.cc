// Bad audio and bad paths: each is a clear error of its own request, and the worker serves on.

#include <sndfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "protocol/messages/status.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

using linkw::Status;

class BadInputTest : public testing::Test {
 public:
  ~BadInputTest() override {
    client_.reset();
    worker_.reset();
    std::filesystem::remove_all(root_);
  }

 protected:
  BadInputTest() {
    std::string pattern = "/tmp/sfm-XXXXXX";
    root_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(root_ + "/media");
    media_ = root_ + "/media";
    worker_ = std::make_unique<WorkerProcess>(
        std::vector<std::string>{"--engine", "pocketsphinx", "--media-root", media_});
    client_ = worker_->Connect();
  }

  std::string WriteBytes(const std::string& name, const std::string& bytes) {
    std::ofstream(media_ + "/" + name, std::ios::binary) << bytes;
    return media_ + "/" + name;
  }
  // A tone; a second long unless said otherwise.
  std::string WriteTone(const std::string& name, int format, int rate, int channels,
                        double seconds = 1, double amplitude = 0.2) {
    std::string path = media_ + "/" + name;
    SF_INFO info{};
    info.samplerate = rate;
    info.channels = channels;
    info.format = format;
    SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
    EXPECT_NE(file, nullptr) << sf_strerror(nullptr);
    const auto frames = static_cast<size_t>(rate * seconds);
    std::vector<float> samples(frames * static_cast<size_t>(channels));
    for (size_t i = 0; i < samples.size(); ++i) {
      const double t = static_cast<double>(i) / channels / rate;
      samples[i] = static_cast<float>(amplitude * std::sin(440 * 2 * M_PI * t));
    }
    sf_writef_float(file, samples.data(), static_cast<sf_count_t>(frames));
    sf_close(file);
    return path;
  }
  static std::string ReadBytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  linkw::StateSyncResult Transcribe(const std::string& path, const std::string& language = "") {
    linkw::Transcribe request;
    request.audio = linkw::AudioPath{path};
    request.language = language;
    auto stream = client_->Transcribe(request);
    EXPECT_TRUE(stream.ok()) << stream.status();
    auto answer = (*stream)->Finish(absl::Now() + absl::Seconds(60));
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? *answer : linkw::StateSyncResult{.status = Status::kInternal};
  }
  void ExpectRefused(const linkw::StateSyncResult& answer, Status status,
                     const std::string& part_of_message) {
    EXPECT_EQ(answer.status, status) << answer.message;
    EXPECT_NE(answer.message.find(part_of_message), std::string::npos) << answer.message;
    ExpectStillServing();
  }
  void ExpectStillServing() {
    const std::string good =
        WriteTone("good.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 1, 0.2, 0);
    EXPECT_EQ(Transcribe(good).status, Status::kOk);
    EXPECT_TRUE(client_->link_status().ok());
  }

  std::string root_;
  std::string media_;
  std::unique_ptr<WorkerProcess> worker_;
  std::unique_ptr<linkw::LinkClient> client_;
};

TEST_F(BadInputTest, FilesThatAreNoAudio) {
  ASSERT_NE(client_, nullptr);
  ExpectRefused(Transcribe(media_ + "/nothing.wav"), Status::kNotFound, "nothing.wav");
  ExpectRefused(Transcribe(media_), Status::kInvalidArgument, "");
  ExpectRefused(Transcribe(WriteBytes("empty.wav", "")), Status::kInvalidArgument, "empty");
  std::string random(5000, '\0');
  for (size_t i = 0; i < random.size(); ++i) random[i] = static_cast<char>(i * 7919 >> 3);
  ExpectRefused(Transcribe(WriteBytes("random.wav", random)), Status::kInvalidArgument,
                "random.wav");
  const std::string whole =
      ReadBytes(WriteTone("t.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 1));
  ExpectRefused(Transcribe(WriteBytes("header.wav", whole.substr(0, 44))), Status::kInvalidArgument,
                "header.wav");
  std::string no_rate = whole;
  std::memset(no_rate.data() + 24, 0, 4);  // the sample rate of a wav's fmt chunk
  ExpectRefused(Transcribe(WriteBytes("rate0.wav", no_rate)), Status::kInvalidArgument,
                "rate0.wav");
}

TEST_F(BadInputTest, ATruncatedFileIsSaidToBeTruncated) {
  ASSERT_NE(client_, nullptr);
  const std::pair<std::string, int> formats[] = {
      {"cut.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16},
      {"cut.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16},
      {"cut.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS},
      {"cut.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}};
  for (const auto& [name, format] : formats) {
    const std::string whole = ReadBytes(WriteTone(name, format, 16000, 1, 5));
    const auto answer = Transcribe(WriteBytes(name, whole.substr(0, whole.size() / 2)));
    ExpectRefused(answer, Status::kInvalidArgument, name);
    EXPECT_NE(answer.message.find("cut short"), std::string::npos) << answer.message;
  }
}

TEST_F(BadInputTest, AWavThatClaimsFourGigabytesIsWhatItHolds) {
  ASSERT_NE(client_, nullptr);
  std::string huge =
      ReadBytes(WriteTone("t.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 1, 1, 0));
  const uint32_t claim = 0xfffffff0u;
  std::memcpy(huge.data() + 4, &claim, 4);
  std::memcpy(huge.data() + 40, &claim, 4);
  const auto answer = Transcribe(WriteBytes("huge.wav", huge));
  if (answer.status == Status::kOk) {
    EXPECT_EQ(std::get<linkw::TranscribeResult>(answer.reply).duration_ms, 1000);
  } else {
    EXPECT_EQ(answer.status, Status::kInvalidArgument) << answer.message;
  }
  ExpectStillServing();
}

TEST_F(BadInputTest, OddButValidFormatsWork) {
  ASSERT_NE(client_, nullptr);
  const auto narrow = Transcribe(WriteTone("n.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 8000, 2));
  EXPECT_EQ(narrow.status, Status::kOk) << narrow.message;
  EXPECT_NEAR(static_cast<double>(std::get<linkw::TranscribeResult>(narrow.reply).duration_ms),
              1000, 2);
  const auto wide = Transcribe(WriteTone("w.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 192000, 2));
  EXPECT_EQ(wide.status, Status::kOk) << wide.message;
  EXPECT_NEAR(static_cast<double>(std::get<linkw::TranscribeResult>(wide.reply).duration_ms), 1000,
              2);
}

TEST_F(BadInputTest, SilenceIsAnEmptyText) {
  ASSERT_NE(client_, nullptr);
  Transcribe("/usr/share/pocketsphinx/test/data/goforward.raw");  // leaves nothing behind
  const auto answer =
      Transcribe(WriteTone("s.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 1, 3, 0));
  EXPECT_EQ(answer.status, Status::kOk) << answer.message;
  EXPECT_EQ(std::get<linkw::TranscribeResult>(answer.reply).text, "");
}

TEST_F(BadInputTest, PathsOutsideTheMediaRoot) {
  ASSERT_NE(client_, nullptr);
  const std::string outside = root_ + "/outside.wav";
  std::filesystem::copy(WriteTone("t.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 1), outside);
  ExpectRefused(Transcribe(outside), Status::kPermissionDenied, "outside.wav");
  ExpectRefused(Transcribe(media_ + "/../outside.wav"), Status::kPermissionDenied, "");
  std::filesystem::create_symlink(outside, media_ + "/link.wav");
  ExpectRefused(Transcribe(media_ + "/link.wav"), Status::kPermissionDenied, "link.wav");
  std::filesystem::create_symlink("t.wav", media_ + "/inside.wav");
  EXPECT_EQ(Transcribe(media_ + "/inside.wav").status, Status::kOk);
  ASSERT_EQ(mkfifo((media_ + "/fifo.wav").c_str(), 0600), 0);
  ExpectRefused(Transcribe(media_ + "/fifo.wav"), Status::kInvalidArgument, "");
}

TEST_F(BadInputTest, LanguagesThatAreNoneOrNotKnown) {
  ASSERT_NE(client_, nullptr);
  const std::string tone = WriteTone("t.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 1);
  ExpectRefused(Transcribe(tone, "\xff\xfe"), Status::kInvalidArgument, "language");
  ExpectRefused(Transcribe(tone, "fr"), Status::kUnsupported, "fr");
  EXPECT_EQ(Transcribe(tone, "en-US").status, Status::kOk);
}

}  // namespace
}  // namespace superfluid
