#include "actors/state_ops/artifact_check.h"

#include <fstream>
#include <iterator>
#include <string>

#include "engine/loader/sha256.h"
#include "gtest/gtest.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

class ArtifactCheckTest : public testing::Test {
 protected:
  ArtifactCheckTest() {
    std::ofstream(root_ + "/draft.bin") << "draft";
    Sha256 hash;
    hash.Add("draft");
    strategy_.artifacts.push_back(
        {.content_hash = hash.Finish(), .byte_size = 5, .load_path = "draft.bin"});
  }
  linkw::Status Check() {
    const ArtifactsChecked checked = OpenArtifacts(root_, strategy_, token_);
    EXPECT_EQ(checked.status.ok() || checked.status.message().find("artifact 0: ") == 0, true)
        << checked.status;
    return linkw::FromAbsl(checked.status);
  }

  const std::string root_ = testing::TempDir();
  linkw::StrategyRegister strategy_;
  CancelToken token_;
};

TEST_F(ArtifactCheckTest, NamesTheOpenFile) {
  const ArtifactsChecked checked = OpenArtifacts(root_, strategy_, token_);
  ASSERT_TRUE(checked.status.ok()) << checked.status;
  std::ifstream file(checked.strategy->artifacts[0].load_path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "draft");
}

TEST_F(ArtifactCheckTest, RefusesAnotherHashOrSize) {
  strategy_.artifacts[0].content_hash[0] ^= 1;
  EXPECT_EQ(Check(), linkw::Status::kInvalidArgument);
  strategy_.artifacts[0].content_hash[0] ^= 1;
  strategy_.artifacts[0].byte_size = 6;
  EXPECT_EQ(Check(), linkw::Status::kInvalidArgument);
}

TEST_F(ArtifactCheckTest, StopsWhenItIsCancelled) {
  token_.Cancel(CancelReason::kLinkClosed, 1);
  EXPECT_EQ(Check(), linkw::Status::kCancelled);
}

TEST_F(ArtifactCheckTest, RefusesPathsOutsideAndMissingFiles) {
  strategy_.artifacts[0].load_path = "../draft.bin";
  EXPECT_EQ(Check(), linkw::Status::kPermissionDenied);
  strategy_.artifacts[0].load_path = "missing";
  EXPECT_EQ(Check(), linkw::Status::kNotFound);
}

}  // namespace
}  // namespace superfluid
