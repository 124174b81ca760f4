#ifndef SUPERFLUID_TESTS_ENGINE_ABI_HOSTILE_GENERATION_FIXTURE_H_
#define SUPERFLUID_TESTS_ENGINE_ABI_HOSTILE_GENERATION_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/cancel_token.h"
#include "engine/engine.h"
#include "tests/engine/abi/generation_fixture.h"

namespace superfluid::testing {

// The plug-in hostile_generation, which does the wrong thing that `mode` names.
class HostileGeneration : public ::testing::Test {
 protected:
  absl::Status Load(const std::string& mode);
  void MustLoad(const std::string& mode) {
    const absl::Status status = Load(mode);
    ASSERT_TRUE(status.ok()) << mode << ": " << status;
  }
  Generation& generation() { return *engine_->generation(); }

  // A tick of two new lanes that decode four tokens and want logits.
  absl::StatusOr<std::vector<LaneResult>> Tick2(bool emits = true);

  std::vector<std::string> log_;
  RecordingHost host_;
  CancelToken token_;
  std::unique_ptr<Engine> engine_;
};

// A call of Generation by a name that misdeeds begin with: "export" runs a whole export.
using HostileAction = std::function<absl::Status(Generation&)>;
const std::map<std::string, HostileAction>& HostileActions();
absl::Status RunHostileExport(Generation& generation);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_ABI_HOSTILE_GENERATION_FIXTURE_H_
