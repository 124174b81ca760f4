// A model whose tensors lie in two files, as the tools of the format split them.
#include <ggml.h>
#include <gguf.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "engine/llama/gguf_check.h"
#include "engine/llama/llama_engine.h"
#include "tests/engine/llama/llama_fixture.h"

namespace superfluid {
namespace {

using testing::LlamaConfig;
using testing::ModelFile;

struct FreeGguf {
  void operator()(gguf_context* file) const { gguf_free(file); }
};
using Gguf = std::unique_ptr<gguf_context, FreeGguf>;

constexpr uint16_t kShards = 2;

class SplitModelTest : public testing::LlamaFixture {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/split_model";
    std::filesystem::create_directories(folder_);
    ggml_context* tensors = nullptr;
    gguf_init_params params = {/*.no_alloc =*/false, /*.ctx =*/&tensors};
    const Gguf whole(gguf_init_from_file(ModelFile("tiny_llama.gguf").c_str(), params));
    ASSERT_NE(whole, nullptr);
    for (uint16_t shard = 0; shard < kShards; ++shard) WriteShard(whole.get(), tensors, shard);
    ggml_free(tensors);
  }

  std::string Shard(uint16_t index) const {
    return folder_ + "/tiny-0000" + std::to_string(index + 1) + "-of-00002.gguf";
  }

  void WriteShard(const gguf_context* whole, ggml_context* tensors, uint16_t shard) {
    const Gguf out(gguf_init_empty());
    if (shard == 0) gguf_set_kv(out.get(), whole);
    gguf_set_val_u16(out.get(), "split.no", shard);
    gguf_set_val_u16(out.get(), "split.count", kShards);
    gguf_set_val_i32(out.get(), "split.tensors.count",
                     static_cast<int32_t>(gguf_get_n_tensors(whole)));
    for (int64_t i = 0; i < gguf_get_n_tensors(whole); ++i) {
      if (i % kShards != shard) continue;
      gguf_add_tensor(out.get(), ggml_get_tensor(tensors, gguf_get_tensor_name(whole, i)));
    }
    ASSERT_TRUE(gguf_write_to_file(out.get(), Shard(shard).c_str(), /*only_meta=*/false));
  }

  absl::StatusOr<std::unique_ptr<Engine>> Make() const {
    return MakeLlamaEngine(LlamaConfig(Shard(0), {}));
  }

  std::string folder_;
};

TEST_F(SplitModelTest, DrawsWhatTheWholeModelDraws) {
  Start();
  const std::vector<Token> whole = Draw(Greedy(Prompt(20), 8));
  auto engine = Make();
  ASSERT_TRUE(engine.ok()) << engine.status();
  driver_.reset();
  engine_ = *std::move(engine);
  generation_ = static_cast<LlamaGeneration*>(engine_->generation());
  driver_ = std::make_unique<testing::GenerationDriver>(*generation_);
  EXPECT_EQ(Draw(Greedy(Prompt(20), 8)), whole);
}

TEST_F(SplitModelTest, EachShardIsCheckedBeforeTheLibrarySeesIt) {
  const auto size = std::filesystem::file_size(Shard(1));
  std::filesystem::resize_file(Shard(1), size - 1);
  const absl::Status cut = Make().status();
  EXPECT_TRUE(absl::IsInvalidArgument(cut)) << cut;
  EXPECT_NE(std::string(cut.message()).find("00002-of-00002"), std::string::npos) << cut;
  std::filesystem::remove(Shard(1));
  EXPECT_TRUE(absl::IsNotFound(Make().status())) << Make().status();
}

TEST_F(SplitModelTest, EachShardMakesAnotherModel) {
  const auto before = CheckGgufModel(Shard(0));
  ASSERT_TRUE(before.ok()) << before.status();
  const auto first = CheckGguf(Shard(0));
  ASSERT_TRUE(first.ok());
  EXPECT_GT(before->file_bytes, first->file_bytes);
  std::fstream file(Shard(1), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('\x55');
  file.close();
  const auto after = CheckGgufModel(Shard(0));
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_NE(after->fingerprint, before->fingerprint);
}

}  // namespace
}  // namespace superfluid
