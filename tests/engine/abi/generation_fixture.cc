#include "tests/engine/abi/generation_fixture.h"

#include "engine/abi/plugin_engine.h"
#include "engine/sdk/shim.h"

namespace superfluid::testing {
namespace {

FakeScript* script = nullptr;

class FakeEngine : public Engine {
 public:
  FakeEngine() {
    info_.name = "fake";
    if (script == nullptr) return;
    generation_ = MakeFakeGeneration(*script);
    info_.max_lanes = 4;
    info_.vocab_size = 1000;
  }
  const EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override { return "{}"; }
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& /*params*/, std::unique_ptr<AudioSource> /*audio*/) override {
    return absl::UnimplementedError("no speech");
  }
  Generation* generation() override { return generation_.get(); }

 private:
  EngineInfo info_;
  std::unique_ptr<Generation> generation_;
};

absl::StatusOr<std::unique_ptr<Engine>> MakeFakeEngine(const EngineConfig& /*config*/) {
  return std::make_unique<FakeEngine>();
}

}  // namespace

void GenerationFixture::SetUp() { ASSERT_TRUE(Make().ok()); }

void GenerationFixture::TearDown() { engine_.reset(); }

absl::Status GenerationFixture::Make(bool generates) {
  script = generates ? &script_ : nullptr;
  auto made = PluginEngine::Create(sdk::PluginVtable<MakeFakeEngine>(SFL_ABI_VERSION), {});
  script = nullptr;
  if (!made.ok()) return made.status();
  engine_ = *std::move(made);
  generation_ = engine_->generation();
  return absl::OkStatus();
}

}  // namespace superfluid::testing
