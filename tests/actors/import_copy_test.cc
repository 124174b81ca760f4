#include "actors/import_copy.h"

#include <vector>

#include "gtest/gtest.h"
#include "protocol/status.h"

namespace superfluid {
namespace {

class ImportCopyTest : public testing::Test {
 protected:
  ImportCopyTest() {
    for (size_t i = 0; i < payload_.size(); ++i) payload_[i] = static_cast<std::byte>(i * 7);
    envelope_.payload_bytes = payload_.size();
    envelope_.payload_hash = linkw::StateHash(payload_);
  }
  absl::Status Copy() { return CopyImport(envelope_, payload_, absl::MakeSpan(copy_), token_); }

  // More than one piece of the copy, and not a whole number of them.
  std::vector<std::byte> payload_ = std::vector<std::byte>(200'001);
  std::vector<std::byte> copy_ = std::vector<std::byte>(payload_.size());
  linkw::StateEnvelope envelope_;
  CancelToken token_;
};

TEST_F(ImportCopyTest, CopiesWhatIsWhole) {
  EXPECT_TRUE(Copy().ok());
  EXPECT_EQ(copy_, payload_);
}

TEST_F(ImportCopyTest, RefusesDamageInAnyPiece) {
  for (const size_t at : {size_t{0}, size_t{65'536}, size_t{200'000}}) {
    payload_[at] ^= std::byte{1};
    EXPECT_EQ(linkw::FromAbsl(Copy()), linkw::Status::kEnvelopeMismatch) << at;
    payload_[at] ^= std::byte{1};
  }
}

TEST_F(ImportCopyTest, StopsWhenItIsCancelled) {
  token_.Cancel(CancelReason::kRequested, 1);
  EXPECT_TRUE(absl::IsCancelled(Copy()));
  EXPECT_EQ(copy_[0], std::byte{0}) << "nothing was copied";
}

}  // namespace
}  // namespace superfluid
