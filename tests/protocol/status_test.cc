#include "protocol/messages/status.h"

#include <cstdint>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace superfluid::linkw {
namespace {

constexpr uint32_t kLast = static_cast<uint32_t>(Status::kTooLarge);

TEST(StatusTest, EveryStatusSurvivesAbslStatus) {
  for (uint32_t value = 1; value <= kLast; ++value) {
    const auto status = static_cast<Status>(value);
    const absl::Status absl_status = MakeStatus(status, "why");
    EXPECT_EQ(absl_status.code(), ToAbslCode(status));
    EXPECT_EQ(absl_status.message(), "why");
    EXPECT_EQ(FromAbsl(absl_status), status) << StatusName(status);
    EXPECT_FALSE(absl_status.ok()) << StatusName(status);
  }
}

TEST(StatusTest, NamesAreDistinct) {
  std::set<std::string> names;
  for (uint32_t value = 0; value <= kLast; ++value) {
    names.insert(std::string(StatusName(static_cast<Status>(value))));
  }
  EXPECT_EQ(names.size(), kLast + 1);
  EXPECT_EQ(StatusName(Status::kRejectBadRefGeneration), "REJECT_BAD_REF_GENERATION");
  EXPECT_EQ(names.count("UNKNOWN"), 0u);
}

TEST(StatusTest, OkIsOk) {
  EXPECT_TRUE(MakeStatus(Status::kOk, "dropped").ok());
  EXPECT_EQ(FromAbsl(absl::OkStatus()), Status::kOk);
}

TEST(StatusTest, AValueOfALaterVersionIsNeverOk) {
  EXPECT_EQ(StatusFromWire(kLast), Status::kTooLarge);
  EXPECT_EQ(StatusFromWire(kLast + 1), Status::kInternal);
  EXPECT_EQ(StatusFromWire(0xffffffff), Status::kInternal);
  EXPECT_EQ(StatusName(static_cast<Status>(kLast + 1)), "UNKNOWN");
  EXPECT_EQ(ToAbslCode(static_cast<Status>(kLast + 1)), absl::StatusCode::kInternal);
}

TEST(StatusTest, StatusesOfOtherMakersGetTheClosestMeaning) {
  EXPECT_EQ(FromAbsl(absl::CancelledError("")), Status::kCancelled);
  EXPECT_EQ(FromAbsl(absl::InvalidArgumentError("")), Status::kInvalidArgument);
  EXPECT_EQ(FromAbsl(absl::OutOfRangeError("")), Status::kInvalidArgument);
  EXPECT_EQ(FromAbsl(absl::DataLossError("")), Status::kInvalidArgument);
  EXPECT_EQ(FromAbsl(absl::DeadlineExceededError("")), Status::kDeadlineExceeded);
  EXPECT_EQ(FromAbsl(absl::NotFoundError("")), Status::kNotFound);
  EXPECT_EQ(FromAbsl(absl::PermissionDeniedError("")), Status::kPermissionDenied);
  EXPECT_EQ(FromAbsl(absl::UnauthenticatedError("")), Status::kPermissionDenied);
  EXPECT_EQ(FromAbsl(absl::ResourceExhaustedError("")), Status::kBusy);
  EXPECT_EQ(FromAbsl(absl::UnavailableError("")), Status::kBusy);
  EXPECT_EQ(FromAbsl(absl::FailedPreconditionError("")), Status::kFailedPrecondition);
  EXPECT_EQ(FromAbsl(absl::AlreadyExistsError("")), Status::kFailedPrecondition);
  EXPECT_EQ(FromAbsl(absl::UnimplementedError("")), Status::kUnsupported);
  EXPECT_EQ(FromAbsl(absl::InternalError("")), Status::kInternal);
  EXPECT_EQ(FromAbsl(absl::AbortedError("")), Status::kInternal);
  EXPECT_EQ(FromAbsl(absl::UnknownError("")), Status::kInternal);
}

TEST(StatusTest, OnlyTwoErrorsEndTheLink) {
  for (uint32_t value = 0; value <= kLast; ++value) {
    const auto status = static_cast<Status>(value);
    const bool ends = status == Status::kProtocolError || status == Status::kVersionMismatch;
    EXPECT_EQ(IsLinkError(MakeStatus(status, "")), ends) << StatusName(status);
  }
  EXPECT_FALSE(IsLinkError(absl::DataLossError("of somebody else")));
}

}  // namespace
}  // namespace superfluid::linkw
