// What is refused: files that are no images, projectors that do not fit, bindings that cannot be.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "engine/generation/media_book.h"
#include "engine/llama/image_file.h"
#include "engine/llama/llama_engine.h"
#include "engine/llama/llama_model.h"
#include "engine/llama/llama_options.h"
#include "engine/llama/media_encoder.h"
#include "engine/sampling/handle_source.h"
#include "tests/engine/llama/media_fixture.h"

namespace superfluid::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class LlamaMediaFilesTest : public MediaFixture {
 protected:
  std::string Temporary(const std::string& name, const std::string& bytes) {
    std::string path = ::testing::TempDir() + "/" + name;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return path;
  }
};

absl::Status StartOf(const std::string& projector) {
  return MakeLlamaEngine(LlamaConfig(ModelFile("tiny_llama.gguf"), {{"mmproj", projector}}))
      .status();
}

TEST_F(LlamaMediaFilesTest, SaysWhatItServes) {
  const auto json = nlohmann::json::parse(engine_->CapabilitiesJson());
  for (const char* call : {"media_probe", "media_encode", "media_release", "media_bind"}) {
    EXPECT_THAT(json["calls"], Contains(call));
  }
  EXPECT_EQ(json["media"]["kinds"], nlohmann::json::array({"image"}));
  const auto probed = generation().ProbeMedia(ModelFile(kImage), {});
  ASSERT_TRUE(probed.ok()) << probed.status();
  EXPECT_EQ(probed->n_tokens, 16U);
  EXPECT_EQ(probed->boi_token, probed->image_token);
  EXPECT_EQ(Encode().info.preprocess_fp, probed->preprocess_fp);
  EXPECT_EQ(Encode().info.n_tokens, probed->n_tokens);
}

// Set from the n-th look on.
struct Looks {
  int left = 0;
};
CancelReason CountDown(void* looks) noexcept {
  return --static_cast<Looks*>(looks)->left < 0 ? CancelReason::kRequested : CancelReason::kNone;
}

TEST_F(LlamaMediaFilesTest, EncodingIsStoppedWhereverItIsAndLeavesNothing) {
  const EncodedMedia media = Encode();
  const Script script = ScriptOf({5, 6}, media.info, {7}, 4);
  const std::vector<Token> expected = DrawWith(script, media.handle, 2);
  ASSERT_TRUE(generation().ReleaseMedia(media.handle).ok());
  const uint64_t before = engine_->Memory().host_retained_bytes;
  int stopped = 0;
  for (int looks = 0;; ++looks) {
    Looks countdown{looks};
    const CancelToken token(&CountDown, &countdown);
    const auto encoded = generation().EncodeMedia(ModelFile(kImage), CallControl(token, nullptr));
    if (encoded.ok()) {
      EXPECT_EQ(DrawWith(script, encoded->handle, 2), expected);
      break;
    }
    ASSERT_TRUE(absl::IsCancelled(encoded.status())) << encoded.status();
    EXPECT_EQ(engine_->Memory().host_retained_bytes, before);
    ++stopped;
  }
  EXPECT_GT(stopped, 4) << "some of them inside the library";
}

TEST_F(LlamaMediaFilesTest, ReadingAFileIsASignOfLife) {
  int signs = 0;
  const CancelToken token;
  const CallControl control(token, [&] { ++signs; });
  ASSERT_TRUE(generation().ProbeMedia(ModelFile(kImage), control).ok());
  EXPECT_GE(signs, 1);
}

TEST_F(LlamaMediaFilesTest, WithoutAProjectorThereAreNoMedia) {
  Start();
  for (const absl::Status& status :
       {generation().ProbeMedia(ModelFile(kImage), {}).status(),
        generation().EncodeMedia(ModelFile(kImage), {}).status(),
        generation().ReleaseMedia(MediaHandle{1}), generation().BindMedia({}, MediaHandle{1}, 0)}) {
    EXPECT_TRUE(absl::IsUnimplemented(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("without the option mmproj"));
  }
  EXPECT_TRUE(nlohmann::json::parse(engine_->CapabilitiesJson())["media"].is_null());
}

TEST_F(LlamaMediaFilesTest, FilesThatAreNoImagesAreRefusedAndHarmNothing) {
  std::string noise(100'000, '\0');
  std::mt19937 random(7);
  for (char& byte : noise) byte = static_cast<char>(random());
  const auto png = ReadImageFile(ModelFile(kImage));
  ASSERT_TRUE(png.ok());
  const std::vector<std::string> wrong = {
      Temporary("empty", ""),        Temporary("noise", noise),
      Temporary("text", "no image"), Temporary("header", png->substr(0, 40)),
      ::testing::TempDir(),          ModelFile("tiny_mmproj.gguf")};
  for (const std::string& path : wrong) {
    EXPECT_TRUE(absl::IsInvalidArgument(generation().EncodeMedia(path, {}).status())) << path;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      generation().EncodeMedia(Temporary("cut.png", png->substr(0, 2000)), {}).status()));
  EXPECT_TRUE(absl::IsNotFound(generation().EncodeMedia("no/such.png", {}).status()));
  EXPECT_TRUE(absl::IsNotFound(generation().ProbeMedia("no/such.png", {}).status()));
  EXPECT_EQ(engine_->Memory().host_retained_bytes, 0U);
  EXPECT_EQ(Encode().info.n_tokens, 16U);
}

// Shapes that a picture may have.
TEST_F(LlamaMediaFilesTest, ImagesOfAnyShapeAreEncoded) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 999}, {4001, 1}, {640, 480}}) {
    const std::string sizes = std::to_string(width) + " " + std::to_string(height);
    const size_t bytes = size_t{3} * static_cast<size_t>(width) * static_cast<size_t>(height);
    const std::string path =
        Temporary("shape.ppm", "P6 " + sizes + " 255\n" + std::string(bytes, '\x35'));
    const auto encoded = generation().EncodeMedia(path, {});
    ASSERT_TRUE(encoded.ok()) << sizes << encoded.status();
    EXPECT_EQ(encoded->info.n_tokens, 16U);
  }
}

TEST_F(LlamaMediaFilesTest, ProjectorsThatCannotBeUsedAreRefusedAtStart) {
  EXPECT_TRUE(absl::IsNotFound(StartOf("no/such.gguf")));
  EXPECT_TRUE(absl::IsInvalidArgument(StartOf("")));
  for (const char* kind : {"counts", "empty", "header", "magic", "missing_tensor", "nan", "random",
                           "strings", "truncated"}) {
    const absl::Status status = StartOf(ModelFile(std::string("broken_mmproj_") + kind + ".gguf"));
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << kind << ": " << status;
  }
  EXPECT_THAT(std::string(StartOf(ModelFile("tiny_llama.gguf")).message()), HasSubstr("llama"));
  EXPECT_THAT(std::string(StartOf(ModelFile("wide_mmproj.gguf")).message()),
              AllOf(HasSubstr("mismatch"), HasSubstr("96")));
  // Found by an assertion of the library.
  const absl::Status shape = StartOf(ModelFile("wrong_shape_mmproj.gguf"));
  EXPECT_TRUE(absl::IsInvalidArgument(shape)) << shape;
  EXPECT_THAT(std::string(shape.message()), HasSubstr("cannot be loaded"));
}

// As LlamaEngineTest does with models.
TEST_F(LlamaMediaFilesTest, DamagedProjectorsAreRefusedOrLoad) {
  std::ifstream file(ModelFile("tiny_mmproj.gguf"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  for (size_t i = 0; i < 90; ++i) {
    std::string damaged = whole;
    if (i % 3 == 0) {
      damaged.resize(whole.size() * i / 90);
    } else {
      char& byte = damaged[i * 7919 % (i < 60 ? 1000 : 4000)];
      byte = static_cast<char>(static_cast<uint8_t>(byte) ^ (1U << (i % 8)));
    }
    (void)StartOf(Temporary("damaged.gguf", damaged));
  }
}

TEST_F(LlamaMediaFilesTest, BindingsThatCannotBeFailTheirLane) {
  const EncodedMedia media = Encode();
  const Script script = ScriptOf(Prompt(5), media.info, Prompt(5, 2), 4);
  const std::vector<Token> expected = DrawWith(script, media.handle, 5);
  const auto code = [&](uint64_t offset) {
    return driver().RunLane(LaneWith(script, media.handle, offset, 4)).status().code();
  };
  EXPECT_EQ(code(11), absl::StatusCode::kInvalidArgument);          // beyond the input
  EXPECT_EQ(code(UINT64_MAX), absl::StatusCode::kInvalidArgument);  // far beyond
  EXPECT_EQ(code(4), absl::StatusCode::kInvalidArgument);           // not where its tokens are
  LaneWork twice = LaneWith(script, media.handle, 5, 4);
  ASSERT_TRUE(generation().BindMedia(twice.tag, media.handle, 5).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(driver().RunLane(twice).status()));
  // It is bound no more.
  EXPECT_TRUE(driver().RunLane(twice).ok());

  EXPECT_TRUE(absl::IsNotFound(generation().BindMedia({}, MediaHandle{4711}, 0)));
  const LaneWork bound = LaneWith(script, media.handle, 5, 4);
  ASSERT_TRUE(generation().ReleaseMedia(media.handle).ok());
  EXPECT_TRUE(absl::IsNotFound(generation().ReleaseMedia(media.handle)));
  EXPECT_TRUE(absl::IsNotFound(generation().BindMedia({}, media.handle, 5)));
  const auto drawn = driver().RunLane(bound);
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  EXPECT_EQ(drawn->tokens, expected);
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 4U);  // of `twice` without, and `bound`
}

TEST_F(LlamaMediaFilesTest, AFailedLaneLeavesItsSequenceAsItWas) {
  const EncodedMedia media = Encode();
  const Script script = ScriptOf(Prompt(5), media.info, {}, 6);
  const auto made = driver().RunLane(driver().LaneFor(script, {}, Prompt(5), 0));
  ASSERT_TRUE(made.ok());
  LaneWork lane =
      driver().LaneFor(script, made->sequence, absl::MakeConstSpan(script.prompt).subspan(5), 6);
  ASSERT_TRUE(generation().BindMedia(lane.tag, media.handle, 1).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(driver().RunLane(lane).status()));
  ASSERT_TRUE(generation().BindMedia(lane.tag, media.handle, 0).ok());
  const auto drawn = driver().RunLane(lane);
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  EXPECT_EQ(drawn->tokens, DrawWith(script, media.handle, 5));
}

TEST_F(LlamaMediaFilesTest, HandlesAndBindingsAreBounded) {
  const EncodedMedia media = Encode();
  for (int i = 1; i < 1024; ++i) (void)Encode();
  EXPECT_EQ(engine_->Memory().host_retained_bytes, size_t{16} * 64 * sizeof(float));  // one image
  EXPECT_TRUE(absl::IsResourceExhausted(generation().EncodeMedia(ModelFile(kImage), {}).status()));
  for (int i = 0; i < 4096; ++i) {
    ASSERT_TRUE(generation().BindMedia(LaneTag{77}, media.handle, 0).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(generation().BindMedia(LaneTag{78}, media.handle, 0)));
  generation().EndSession();
  EXPECT_EQ(engine_->Memory().host_retained_bytes, 0U);
  EXPECT_TRUE(generation().BindMedia(LaneTag{78}, Encode().handle, 0).ok());
}

TEST_F(LlamaMediaFilesTest, TheBytesOfAllImagesAreBounded) {
  const EngineConfig config =
      LlamaConfig(ModelFile("tiny_llama.gguf"), {{"mmproj", ModelFile("tiny_mmproj.gguf")}});
  const auto options = ParseLlamaOptions(config);
  ASSERT_TRUE(options.ok());
  const auto model = LlamaModel::Load(config, *options);
  ASSERT_TRUE(model.ok()) << model.status();
  auto encoder = MediaEncoder::Load(config, *options, **model);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  HandleSource handles;
  const uint64_t one = uint64_t{16} * 64 * sizeof(float);
  MediaBook media(handles, encoder->get(), "", 2 * one - 1);
  const auto first = media.Encode(ModelFile(kImage), {});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(absl::IsResourceExhausted(media.Encode(ModelFile(kOtherImage), {}).status()));
  const auto again = media.Encode(ModelFile(kImage), {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(media.bytes(), one);
  // A binding keeps it, too.
  ASSERT_TRUE(media.Bind(LaneTag{1}, first->handle, 0).ok());
  ASSERT_TRUE(media.Release(first->handle).ok() && media.Release(again->handle).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(media.Encode(ModelFile(kOtherImage), {}).status()));
  (void)media.TakeBindings(LaneTag{1}, {});
  EXPECT_TRUE(media.Encode(ModelFile(kOtherImage), {}).ok());
}

TEST_F(LlamaMediaFilesTest, AnImageMustFitTheContextAndTheMicroBatch) {
  StartWith("tiny_mmproj.gguf", {{"context", "16"}});
  EXPECT_TRUE(generation().EncodeMedia(ModelFile(kImage), {}).ok());
  const absl::Status refused =
      MakeLlamaEngine(
          LlamaConfig(ModelFile("tiny_llama.gguf"),
                      {{"mmproj", ModelFile("tiny_mmproj_gemma3.gguf")}, {"ubatch", "2"}}))
          .status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("ubatch"));
}

}  // namespace
}  // namespace superfluid::testing
