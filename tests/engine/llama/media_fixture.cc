#include "tests/engine/llama/media_fixture.h"

#include <utility>

namespace superfluid::testing {

void MediaFixture::StartWith(const std::string& projector, LlamaTestOptions options) {
  options.emplace_back("mmproj", ModelFile(projector));
  Start(std::move(options));
}

EncodedMedia MediaFixture::Encode(const std::string& image) {
  const auto encoded = generation().EncodeMedia(ModelFile(image), {});
  EXPECT_TRUE(encoded.ok()) << encoded.status();
  return encoded.ok() ? *encoded : EncodedMedia{};
}

Script MediaFixture::ScriptOf(const std::vector<Token>& before, const MediaInfo& info,
                              const std::vector<Token>& after, uint32_t draws) {
  Script script;
  script.prompt = before;
  script.prompt.insert(script.prompt.end(), info.n_tokens, info.image_token);
  script.prompt.insert(script.prompt.end(), after.begin(), after.end());
  script.draws = draws;
  return script;
}

LaneWork MediaFixture::LaneWith(const Script& script, MediaHandle media, uint64_t offset,
                                uint32_t draws) {
  const LaneWork lane = driver().LaneFor(script, {}, script.prompt, draws);
  EXPECT_EQ(generation().BindMedia(lane.tag, media, offset), absl::OkStatus());
  return lane;
}

std::vector<Token> MediaFixture::DrawWith(const Script& script, MediaHandle media,
                                          uint64_t offset) {
  const auto result = driver().RunLane(LaneWith(script, media, offset, script.draws));
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  EXPECT_TRUE(driver().Free(result->sequence).ok());
  return result->tokens;
}

}  // namespace superfluid::testing
