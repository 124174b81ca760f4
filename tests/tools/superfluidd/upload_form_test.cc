#include "tools/superfluidd/upload/upload_form.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"

namespace superfluid::daemon {
namespace {

std::string Field(const std::string& name, const std::string& value) {
  return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
}

std::string File(const std::string& bytes) {
  return "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.wav\"\r\n\r\n" +
         bytes + "\r\n";
}

absl::StatusOr<UploadForm> Receive(const std::string& body,
                                   std::shared_ptr<UploadBudget> budget = nullptr) {
  FormReader reader("b", std::move(budget), {.field_bytes = 100});
  if (absl::Status status = reader.Feed(body); !status.ok()) return status;
  return reader.Finish();
}

std::string ReadAll(const OwnedFd& fd, size_t size) {
  std::string bytes(size, 0);
  EXPECT_EQ(pread(fd.get(), bytes.data(), size, 0), static_cast<ssize_t>(size));
  return bytes;
}

TEST(UploadFormTest, KeepsFieldsInOrderAndTheFile) {
  const auto form = Receive(Field("model", "m") + Field("g[]", "word") + Field("g[]", "segment") +
                            File("bytes") + "--b--");
  ASSERT_TRUE(form.ok()) << form.status();
  EXPECT_EQ(form->Field("model"), "m");
  EXPECT_EQ(form->All("g[]"), (std::vector<std::string>{"word", "segment"}));
  EXPECT_EQ(form->Field("missing"), "");
  EXPECT_EQ(form->filename, "f.wav");
  ASSERT_NE(form->file, nullptr);
  EXPECT_EQ(form->file->size(), 5u);
}

TEST(UploadFormTest, RefusesLongFieldsSecondFilesAndEarlyEnds) {
  EXPECT_TRUE(absl::IsInvalidArgument(Receive(Field("a", std::string(101, 'x'))).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Receive(File("1") + File("2") + "--b--").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Receive(File("1")).status()));
}

TEST(UploadFormTest, TheBudgetOfAllUploadsHolds) {
  auto budget = std::make_shared<UploadBudget>(10);
  const auto first = Receive(File("12345678") + "--b--", budget);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(budget->used(), 8u);
  EXPECT_TRUE(absl::IsResourceExhausted(Receive(File("123") + "--b--", budget).status()));
  EXPECT_EQ(budget->used(), 8u) << "what was refused is returned";
}

TEST(AudioBodyTest, SmallAndLargeBodiesBecomeSealedFiles) {
  for (const size_t size : {size_t{3}, AudioBody::kSmall, AudioBody::kSmall * 3 + 7}) {
    AudioBody body;
    std::string bytes;
    while (bytes.size() < size) {
      const std::string piece(std::min<size_t>(1000, size - bytes.size()),
                              static_cast<char>('a' + bytes.size() % 26));
      ASSERT_TRUE(body.Append(piece).ok());
      bytes += piece;
    }
    const auto fd = body.SealedFd();
    ASSERT_TRUE(fd.ok()) << fd.status();
    EXPECT_EQ(ReadAll(*fd, size), bytes);
    EXPECT_NE(ftruncate(fd->get(), 0), 0) << "it is sealed";
    EXPECT_TRUE(body.SealedFd().ok()) << "again, for a retry";
  }
}

TEST(AudioBodyTest, EstimatesLengths) {
  std::string wav = "RIFF....WAVEfmt ................................";
  wav.replace(28, 4, std::string("\x00\x7d\x00\x00", 4));  // 32000 bytes a second
  EXPECT_DOUBLE_EQ(EstimateSeconds(wav, 320000), 10);
  EXPECT_DOUBLE_EQ(EstimateSeconds("ID3", 16000), 1);
  EXPECT_GT(EstimateSeconds("", 1), 0);
}

}  // namespace
}  // namespace superfluid::daemon
