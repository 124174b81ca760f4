#include "engine/abi/status_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "engine/abi/guarded_buffer.h"
#include "engine/abi/plugin_call.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;

TEST(StatusCodesTest, EveryCodeGoesBothWays) {
  for (sfl_status code = SFL_CANCELLED; code <= SFL_DATA_LOSS; ++code) {
    const absl::Status status = StatusFromAbi(code, "why");
    EXPECT_EQ(status.message(), "why");
    EXPECT_EQ(StatusCodeToAbi(status.code()), code);
  }
  EXPECT_TRUE(StatusFromAbi(SFL_OK, "ignored").ok());
  EXPECT_EQ(StatusCodeToAbi(absl::StatusCode::kOk), SFL_OK);
}

TEST(StatusCodesTest, NumbersThatAreNoCodesAreInternal) {
  for (const sfl_status code : {-1, 16, 17, 77, std::numeric_limits<sfl_status>::min(),
                                std::numeric_limits<sfl_status>::max()}) {
    const absl::Status status = StatusFromAbi(code, "why");
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << code;
    EXPECT_THAT(std::string(status.message()), HasSubstr("no status code: why"));
  }
  EXPECT_EQ(StatusCodeToAbi(absl::StatusCode::kUnauthenticated), SFL_INTERNAL);
}

TEST(StatusCodesTest, WritesTheMessageAsFarAsThereIsRoom) {
  std::array<char, 8> room = {};
  room.back() = 'G';
  sfl_error error = {room.data(), room.size() - 1};
  EXPECT_EQ(StatusToAbi(absl::NotFoundError("a long message"), &error), SFL_NOT_FOUND);
  EXPECT_STREQ(room.data(), "a long");
  EXPECT_EQ(room.back(), 'G');
  sfl_error one = {room.data(), 1};
  StatusToAbi(absl::NotFoundError("x"), &one);
  EXPECT_STREQ(room.data(), "");
}

TEST(StatusCodesTest, BearsErrorsWithoutRoom) {
  sfl_error nowhere = {nullptr, 100};
  sfl_error no_room = {nullptr, 0};
  EXPECT_EQ(StatusToAbi(absl::NotFoundError("x"), nullptr), SFL_NOT_FOUND);
  EXPECT_EQ(StatusToAbi(absl::NotFoundError("x"), &nowhere), SFL_NOT_FOUND);
  EXPECT_EQ(StatusToAbi(absl::NotFoundError("x"), &no_room), SFL_NOT_FOUND);
}

template <typename Thrown>
absl::Status StatusOf(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return StatusFromCurrentException("it");
  }
}

TEST(StatusCodesTest, ExceptionsBecomeStatuses) {
  EXPECT_EQ(StatusOf(std::bad_alloc()), absl::ResourceExhaustedError("it ran out of memory"));
  EXPECT_EQ(StatusOf(std::runtime_error("oh")), absl::InternalError("it threw an exception: oh"));
  EXPECT_EQ(StatusOf(42), absl::InternalError("it threw an unknown exception"));
}

TEST(GuardedBufferTest, SeesAWriteJustPastTheEnd) {
  GuardedBuffer buffer(10);
  buffer.data()[9] = 'x';
  EXPECT_TRUE(buffer.intact());
  buffer.data()[10] = 'x';
  EXPECT_FALSE(buffer.intact());
}

TEST(CallPluginTest, PutsTheCallBeforeTheMessage) {
  ErrorBuffer error;
  const auto fail = [](sfl_error* room) {
    sfl_set_error(room, "no model");
    return sfl_status{SFL_NOT_FOUND};
  };
  EXPECT_EQ(CallPlugin("create", error, fail), absl::NotFoundError("create: no model"));
  // The message of the call before must not come back.
  const auto silent = [](sfl_error*) { return sfl_status{SFL_ABORTED}; };
  EXPECT_EQ(CallPlugin("step", error, silent), absl::AbortedError("step failed"));
  const auto succeed = [](sfl_error*) { return sfl_status{SFL_OK}; };
  EXPECT_TRUE(CallPlugin("step", error, succeed).ok());
}

TEST(CallPluginTest, CatchesWhatIsThrown) {
  ErrorBuffer error;
  const auto fail = [](sfl_error*) -> sfl_status { throw std::bad_alloc(); };
  EXPECT_EQ(CallPlugin("create", error, fail), absl::InternalError("create ran out of memory"));
}

}  // namespace
}  // namespace superfluid
