#include "my/silent_engine.h"

#include <string>

namespace {

class SilentEngine : public superfluid::Engine {
 public:
  SilentEngine() { info_.name = "silent"; }
  const superfluid::EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override { return R"({"calls": []})"; }

 private:
  superfluid::EngineInfo info_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<superfluid::Engine>> MakeSilentEngine(
    const superfluid::EngineConfig& /*config*/) {
  return std::make_unique<SilentEngine>();
}
