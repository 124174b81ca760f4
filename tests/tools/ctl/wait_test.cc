#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "tests/tools/ctl/command_fixture.h"
#include "tests/tools/ctl/fake_worker.h"
#include "tests/tools/ctl/scripts.h"

// --wait: until a worker takes us, or the timeout.
namespace superfluid::ctl {
namespace {

using linkw::Status;
using testing::HasSubstr;

using Refusal = std::function<void(FakeLink& link)>;

void Refuse(FakeLink& link, Status status, const std::string& why) {
  link.AwaitBytes();  // unread bytes make the client see a reset connection
  link.Send(linkw::Error{.status = status, .message = why, .detail = {}, .fatal = true}, 0);
}

struct Case {
  const char* name;
  Refusal refuse;
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"all links taken", [](FakeLink& link) { Refuse(link, Status::kBusy, "has 64 links"); }},
      {"draining", [](FakeLink& link) { Refuse(link, Status::kDraining, "shutting down"); }},
      {"closed without a word", [](FakeLink& link) { link.AwaitBytes(); }},
      {"closed at once", [](FakeLink&) {}}};
  return cases;
}

using WaitTest = CommandTest;

TEST_F(WaitTest, WhoeverIsRefusedTriesAgain) {
  for (const Case& test : Cases()) {
    FakeWorker worker(TranscribeAll);
    std::atomic<int> refused = 0;
    worker.on_connect = [&](FakeLink& link) {
      if (refused++ >= 3) return false;
      test.refuse(link);
      return true;
    };
    EXPECT_EQ(RunWith(worker, {"--wait", "--timeout", "60", "transcribe", "a"}), ExitCode::kOk)
        << test.name << ": " << err_.text;
    EXPECT_GT(refused, 3) << test.name;
  }
}

TEST_F(WaitTest, AnObserverWaitsToo) {
  FakeWorker worker;
  std::atomic<int> refused = 0;
  worker.on_connect = [&](FakeLink& link) {
    if (refused++ >= 2) return false;
    Refuse(link, Status::kBusy, "has 64 links");
    return true;
  };
  EXPECT_EQ(RunWith(worker, {"--wait", "--timeout", "60", "ping"}), ExitCode::kOk) << err_.text;
}

TEST_F(WaitTest, WithoutItTheFirstRefusalCountsAndSaysWhy) {
  FakeWorker worker;
  std::atomic<int> refused = 0;
  worker.on_connect = [&](FakeLink& link) {
    ++refused;
    Refuse(link, Status::kBusy, "has 64 links");
    return true;
  };
  EXPECT_EQ(RunWith(worker, {"ping"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("has 64 links"));
  EXPECT_THAT(err_.text, HasSubstr("--wait"));
  EXPECT_EQ(refused, 1);
}

TEST_F(WaitTest, TheLastRefusalIsToldWhenTheTimeIsOver) {
  FakeWorker worker;
  std::atomic<int> refused = 0;
  worker.on_connect = [&](FakeLink& link) {
    ++refused;
    Refuse(link, Status::kBusy, "has 64 links");
    return true;
  };
  EXPECT_EQ(RunWith(worker, {"--wait", "--timeout", "700ms", "ping"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("has 64 links"));
  EXPECT_GT(refused, 1);
}

TEST_F(WaitTest, WhatWaitingDoesNotMendIsToldAtOnce) {
  FakeWorker worker;
  std::atomic<int> refused = 0;
  worker.on_connect = [&](FakeLink& link) {
    ++refused;
    Refuse(link, Status::kPermissionDenied, "not for you");
    return true;
  };
  EXPECT_EQ(RunWith(worker, {"--wait", "--timeout", "60", "ping"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("not for you"));
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace superfluid::ctl
