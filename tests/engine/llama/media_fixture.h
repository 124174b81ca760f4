#ifndef SUPERFLUID_TESTS_ENGINE_LLAMA_MEDIA_FIXTURE_H_
#define SUPERFLUID_TESTS_ENGINE_LLAMA_MEDIA_FIXTURE_H_

#include <string>
#include <vector>

#include "engine/generation.h"
#include "tests/engine/llama/llama_fixture.h"

namespace superfluid::testing {

inline constexpr const char* kImage = "tiny_image.png";
inline constexpr const char* kOtherImage = "tiny_image_other.bmp";

// The tiny model with a projector, LLaVA's kind unless a test starts another.
class MediaFixture : public LlamaFixture {
 protected:
  void SetUp() override { StartWith("tiny_mmproj.gguf"); }
  void StartWith(const std::string& projector, LlamaTestOptions options = {});

  // Of tools/models; fails the test if it cannot be encoded.
  EncodedMedia Encode(const std::string& image = kImage);
  // Tokens, the image's, tokens; `draws` greedy draws.
  static Script ScriptOf(const std::vector<Token>& before, const MediaInfo& info,
                         const std::vector<Token>& after, uint32_t draws);
  // A lane on a new sequence with the image bound `offset` tokens into the prompt.
  LaneWork LaneWith(const Script& script, MediaHandle media, uint64_t offset, uint32_t draws);
  // What the script draws so.
  std::vector<Token> DrawWith(const Script& script, MediaHandle media, uint64_t offset);
};

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_LLAMA_MEDIA_FIXTURE_H_
