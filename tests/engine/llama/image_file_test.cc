#include "engine/llama/image_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace superfluid {
namespace {

using ::testing::HasSubstr;

std::string Whole(const std::string& name) {
  const auto bytes = ReadImageFile("tools/models/" + name);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : "";
}

std::string Temporary(const std::string& name, const std::string& bytes) {
  std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

std::string Ppm(const std::string& sizes, size_t bytes) {
  return "P6\n" + sizes + "\n255\n" + std::string(bytes, '\x40');
}

// A PNG's header may say anything.
std::string WithSize(std::string png, uint32_t width, uint32_t height) {
  for (size_t i = 0; i < 4; ++i) {
    png[16 + i] = static_cast<char>(width >> (24 - 8 * i));
    png[20 + i] = static_cast<char>(height >> (24 - 8 * i));
  }
  return png;
}

TEST(ImageFileTest, ReadsWhatItKnows) {
  for (const char* name : {"tiny_image.png", "tiny_image_other.bmp"}) {
    const auto image = DecodeImage(Whole(name));
    ASSERT_TRUE(image.ok()) << name << image.status();
    EXPECT_EQ(image->size.width, 40U);
    EXPECT_EQ(image->size.height, 30U);
    EXPECT_EQ(image->rgb.size(), 3600U);
    // Blocks of five pixels.
    EXPECT_EQ(image->rgb[0], image->rgb[12]);
    EXPECT_NE(image->rgb[0], image->rgb[15]);
  }
  const auto ppm = DecodeImage(Ppm("2 3", 18));
  ASSERT_TRUE(ppm.ok()) << ppm.status();
  EXPECT_EQ(ppm->rgb, std::vector<unsigned char>(18, 0x40));
}

TEST(ImageFileTest, RefusesFilesThatAreNone) {
  EXPECT_TRUE(absl::IsNotFound(ReadImageFile("no/such.png").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadImageFile(::testing::TempDir()).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadImageFile("/dev/null").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadImageFile(Temporary("empty", "")).status()));
  const std::string large = Temporary("large.png", "");
  std::filesystem::resize_file(large, kMaxImageBytes + 1);
  EXPECT_THAT(std::string(ReadImageFile(large).status().message()), HasSubstr("at most"));
  std::filesystem::remove(large);
}

TEST(ImageFileTest, RefusesBytesThatAreNoImage) {
  const std::string png = Whole("tiny_image.png");
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string(1000, '\0'), std::string(1000, '\xFF'),
        png.substr(0, 20), "RIFF" + std::string(100, 'x'), Ppm("0 4", 0), Ppm("-3 4", 99)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(SizeOfImage(bytes).status())) << bytes.size();
    EXPECT_TRUE(absl::IsInvalidArgument(DecodeImage(bytes).status())) << bytes.size();
  }
}

TEST(ImageFileTest, RefusesSizesBeforeItDecodes) {
  const std::string png = Whole("tiny_image.png");
  for (const auto& [width, height] : {std::pair{20'000U, 2U},
                                      {2U, 16'385U},
                                      {16'000U, 16'000U},
                                      {0xFFFFFFFFU, 0xFFFFFFFFU},
                                      {0x80000000U, 1U}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(SizeOfImage(WithSize(png, width, height)).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(DecodeImage(WithSize(png, width, height)).status()));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(SizeOfImage(Ppm("7000 7000", 100)).status()));
  // Within the limits, and more than there is.
  EXPECT_TRUE(SizeOfImage(WithSize(png, 5000, 5000)).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeImage(WithSize(png, 5000, 5000)).status()));
}

TEST(ImageFileTest, DamagedOnesAreRefusedOrRead) {
  for (const char* name : {"tiny_image.png", "tiny_image_other.bmp"}) {
    const std::string whole = Whole(name);
    for (size_t i = 0; i < 400; ++i) {
      std::string damaged = whole;
      if (i % 4 == 0) {
        damaged.resize(whole.size() * i / 400);
      } else {
        char& byte = damaged[i * 7919 % (i < 200 ? 120 : whole.size())];
        byte = static_cast<char>(static_cast<uint8_t>(byte) ^ (1U << (i % 8)));
      }
      const auto image = DecodeImage(damaged);
      if (image.ok()) {
        EXPECT_EQ(image->rgb.size(), size_t{image->size.width} * image->size.height * 3);
      } else {
        EXPECT_TRUE(absl::IsInvalidArgument(image.status())) << image.status();
      }
    }
  }
  const std::string png = Whole("tiny_image.png");
  EXPECT_FALSE(DecodeImage(png.substr(0, png.size() / 2)).ok());
}

}  // namespace
}  // namespace superfluid
