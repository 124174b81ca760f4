#include "tools/superfluidd/upload/multipart.h"

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid::daemon {
namespace {

struct Part {
  PartInfo info;
  std::string bytes;
  bool ended = false;
};

class Collector : public PartSink {
 public:
  bool OnPart(const PartInfo& part) override {
    parts.push_back({part, "", false});
    return !refuse;
  }
  bool OnData(std::string_view bytes) override {
    EXPECT_FALSE(parts.empty());
    parts.back().bytes.append(bytes);
    return true;
  }
  bool OnPartEnd() override {
    parts.back().ended = true;
    return true;
  }

  std::vector<Part> parts;
  bool refuse = false;
};

constexpr char kBody[] =
    "--xyz\r\n"
    "Content-Disposition: form-data; name=\"model\"\r\n"
    "\r\n"
    "whisper-1\r\n"
    "--xyz\r\n"
    "Content-Disposition: form-data; name=\"file\"; filename=\"a \\\"b\\\".wav\"\r\n"
    "Content-Type: audio/wav\r\n"
    "\r\n"
    "line\r\n--xy\r\n-no delimiter\r\n"
    "--xyz--\r\n";

TEST(MultipartTest, GivesPartsInOrderHoweverTheBodyIsCut) {
  for (size_t piece = 1; piece <= sizeof(kBody); ++piece) {
    Collector collector;
    MultipartParser parser("xyz", collector, {});
    const std::string_view body = kBody;
    for (size_t at = 0; at < body.size(); at += piece) {
      ASSERT_TRUE(parser.Feed(body.substr(at, piece))) << parser.error();
    }
    ASSERT_TRUE(parser.done()) << "pieces of " << piece;
    ASSERT_EQ(collector.parts.size(), 2u);
    EXPECT_EQ(collector.parts[0].info.name, "model");
    EXPECT_FALSE(collector.parts[0].info.is_file);
    EXPECT_EQ(collector.parts[0].bytes, "whisper-1");
    EXPECT_EQ(collector.parts[1].info.filename, "a \"b\".wav");
    EXPECT_TRUE(collector.parts[1].info.is_file);
    EXPECT_EQ(collector.parts[1].bytes, "line\r\n--xy\r\n-no delimiter");
    EXPECT_TRUE(collector.parts[1].ended);
  }
}

TEST(MultipartTest, RefusesABodyThatBeginsOtherwise) {
  Collector collector;
  MultipartParser parser("xyz", collector, {});
  EXPECT_FALSE(parser.Feed("hello --xyz"));
  EXPECT_NE(parser.error().find("boundary"), std::string::npos);
  EXPECT_FALSE(parser.Feed("--xyz\r\n")) << "an error stays";
}

TEST(MultipartTest, BoundsHeadersAndParts) {
  Collector collector;
  MultipartParser long_header("b", collector, {.header_bytes = 100, .parts = 2});
  EXPECT_FALSE(long_header.Feed("--b\r\n" + std::string(101, 'x')));
  MultipartParser parts("b", collector, {.header_bytes = 100, .parts = 2});
  const std::string part = "Content-Disposition: form-data; name=a\r\n\r\nv\r\n--b\r\n";
  EXPECT_TRUE(parts.Feed("--b\r\n" + part));
  EXPECT_FALSE(parts.Feed(part));
  EXPECT_EQ(parts.error(), "too many parts");
}

TEST(MultipartTest, APartNeedsAName) {
  Collector collector;
  MultipartParser parser("b", collector, {});
  EXPECT_FALSE(parser.Feed("--b\r\nContent-Type: text/plain\r\n\r\n"));
}

TEST(MultipartTest, ARefusalOfTheSinkEndsTheParsing) {
  Collector collector;
  collector.refuse = true;
  MultipartParser parser("xyz", collector, {});
  EXPECT_FALSE(parser.Feed(kBody));
  EXPECT_TRUE(parser.error().empty());
}

TEST(MultipartTest, ReadsBoundaries) {
  EXPECT_EQ(BoundaryOf("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(BoundaryOf("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\""), "a b");
  EXPECT_EQ(BoundaryOf("multipart/form-data"), std::nullopt);
  EXPECT_EQ(BoundaryOf("application/json; boundary=abc"), std::nullopt);
  EXPECT_EQ(BoundaryOf("multipart/form-data; boundary=" + std::string(71, 'x')), std::nullopt);
  EXPECT_EQ(BoundaryOf("multipart/form-data; boundary=\"a\nb\""), std::nullopt);
}

// Whatever is changed in a body, the parser ends with an answer, keeps little, and gives no more
// bytes than it was given. The seed may be given in SUPERFLUID_SEED.
TEST(MultipartTest, SurvivesMutations) {
  const char* given = std::getenv("SUPERFLUID_SEED");
  const auto seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20261201;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20000; ++round) {
    std::string body = kBody;
    const auto changes = 1 + random() % 4;
    for (size_t i = 0; i < changes; ++i) {
      const size_t at = random() % body.size();
      switch (random() % 3) {
        case 0:
          body[at] = static_cast<char>(random());
          break;
        case 1:
          body.erase(at, 1 + random() % 9);
          break;
        default:
          body.insert(at, body.substr(random() % body.size(), random() % 20));
      }
      if (body.empty()) body = "-";
    }
    Collector collector;
    MultipartParser parser("xyz", collector, {});
    bool going = true;
    for (size_t at = 0; going && at < body.size();) {
      const size_t piece = 1 + random() % 40;
      going = parser.Feed(std::string_view(body).substr(at, piece));
      at += piece;
    }
    size_t bytes = 0;
    for (const Part& part : collector.parts) bytes += part.bytes.size();
    ASSERT_LE(bytes, body.size()) << "seed " << seed << " round " << round;
    ASSERT_TRUE(going || !parser.done());
  }
}

}  // namespace
}  // namespace superfluid::daemon
