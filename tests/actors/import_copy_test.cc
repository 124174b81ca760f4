#include "actors/state_ops/import_copy.h"

#include <vector>

#include "gtest/gtest.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

using linkw::Status;

class ImportCopyTest : public testing::Test {
 protected:
  ImportCopyTest() {
    for (size_t i = 0; i < payload_.size(); ++i) payload_[i] = static_cast<std::byte>(i * 7);
    envelope_.payload_bytes = payload_.size();
    envelope_.payload_hash = linkw::StateHash(payload_);
  }
  // Copies in parts of `part_` bytes.
  absl::Status Copy() {
    PayloadPass pass(payload_, absl::MakeSpan(copy_));
    for (steps_ = 1;; ++steps_) {
      const absl::StatusOr<bool> done = pass.Step(part_, [this] { return stopped_; });
      if (!done.ok()) return done.status();
      if (*done) return CheckPayload(envelope_, pass);
    }
  }

  // More than one piece of the copy, and not a whole number of them.
  std::vector<std::byte> payload_ = std::vector<std::byte>(200'001);
  std::vector<std::byte> copy_ = std::vector<std::byte>(payload_.size());
  linkw::StateEnvelope envelope_;
  size_t part_ = 100'000;
  bool stopped_ = false;
  int steps_ = 0;
};

TEST_F(ImportCopyTest, CopiesWhatIsWhole) {
  EXPECT_TRUE(Copy().ok());
  EXPECT_EQ(copy_, payload_);
  EXPECT_EQ(steps_, 3);
}

TEST_F(ImportCopyTest, TheChecksumDoesNotDependOnTheParts) {
  for (const size_t part : {size_t{1000}, size_t{65'536}, size_t{1} << 30}) {
    part_ = part;
    PayloadPass pass(payload_);
    while (!pass.Step(part_, [] { return false; }).value()) {
    }
    EXPECT_EQ(pass.hash(), envelope_.payload_hash) << part;
    EXPECT_TRUE(Copy().ok()) << part;
  }
}

TEST_F(ImportCopyTest, AnEmptyPayloadIsDoneAtOnce) {
  payload_.clear();
  copy_.clear();
  envelope_.payload_hash = linkw::StateHash(payload_);
  EXPECT_TRUE(Copy().ok());
  EXPECT_EQ(steps_, 1);
}

TEST_F(ImportCopyTest, RefusesDamageInAnyPiece) {
  for (const size_t at : {size_t{0}, size_t{65'536}, size_t{200'000}}) {
    payload_[at] ^= std::byte{1};
    EXPECT_EQ(linkw::FromAbsl(Copy()), linkw::Status::kEnvelopeMismatch) << at;
    payload_[at] ^= std::byte{1};
  }
}

TEST_F(ImportCopyTest, StopsWhenItIsCancelled) {
  stopped_ = true;
  EXPECT_TRUE(absl::IsCancelled(Copy()));
  EXPECT_EQ(copy_[0], std::byte{0}) << "nothing was copied";
}

class ImportSizeTest : public testing::Test {
 protected:
  Status Check(linkw::TokenRange range, uint64_t payload_bytes) const {
    linkw::StateEnvelope envelope;
    envelope.range = range;
    envelope.payload_bytes = payload_bytes;
    return linkw::FromAbsl(CheckImportSize(envelope, space_, context_tokens_));
  }

  StateSpace space_ = {.bytes_per_token = 1000};
  uint64_t context_tokens_ = 4096;
};

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST_F(ImportSizeTest, APayloadFarLargerThanItsTokensIsRefusedBeforeItIsCopied) {
  EXPECT_EQ(Check({0, 100}, 100'000), Status::kOk);
  EXPECT_EQ(Check({0, 100}, 100'000 + 64 * kMiB), Status::kOk) << "headers and tables";
  EXPECT_EQ(Check({0, 100}, 100'001 + 64 * kMiB), Status::kEnvelopeMismatch);
  EXPECT_EQ(Check({0, 0}, uint64_t{16} << 30), Status::kEnvelopeMismatch);
  EXPECT_EQ(Check({0, 4096}, ~uint64_t{0}), Status::kEnvelopeMismatch);
}

TEST_F(ImportSizeTest, ARangeBeyondAnySequenceIsAMismatch) {
  EXPECT_EQ(Check({0, 4096}, 100), Status::kOk);
  EXPECT_EQ(Check({0, 4097}, 100), Status::kEnvelopeMismatch);
  EXPECT_EQ(Check({0, uint64_t{1} << 63}, 100), Status::kEnvelopeMismatch);
  context_tokens_ = 0;  // the engine does not say
  EXPECT_EQ(Check({0, uint64_t{1} << 32}, 100), Status::kOk);
  EXPECT_EQ(Check({0, uint64_t{1} << 63}, 100), Status::kEnvelopeMismatch);
}

TEST_F(ImportSizeTest, StateThatDoesNotGrowIsBoundedToo) {
  space_.bytes_per_token = 0;
  EXPECT_EQ(Check({0, 4096}, 1024 * kMiB), Status::kOk);
  EXPECT_EQ(Check({0, 4096}, 1024 * kMiB + 1), Status::kEnvelopeMismatch);
}

}  // namespace
}  // namespace superfluid
