#include "engine/whisper/fiber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Fiber> Make(Fiber::Body body, size_t stack_bytes = Fiber::kDefaultStackBytes) {
  absl::StatusOr<std::unique_ptr<Fiber>> fiber = Fiber::Create(std::move(body), stack_bytes);
  EXPECT_TRUE(fiber.ok()) << fiber.status();
  return *std::move(fiber);
}

// Uses `depth` times about a hundred bytes of stack.
int Deep(int depth) {  // NOLINT(misc-no-recursion)
  volatile char used[64] = {};
  used[0] = static_cast<char>(depth);
  return depth == 0 ? used[0] : Deep(depth - 1) + 1;
}

TEST(FiberTest, NothingRunsBeforeResume) {
  bool ran = false;
  {
    const std::unique_ptr<Fiber> fiber = Make([&ran](Fiber&) { ran = true; });
    EXPECT_FALSE(fiber->finished());
  }
  EXPECT_FALSE(ran) << "destroying one that never ran must not run it";
}

TEST(FiberTest, RunsToItsEnd) {
  bool ran = false;
  const std::unique_ptr<Fiber> fiber = Make([&ran](Fiber&) { ran = true; });
  EXPECT_TRUE(fiber->Resume());
  EXPECT_TRUE(ran);
  EXPECT_TRUE(fiber->finished());
  EXPECT_TRUE(fiber->error().ok());
}

TEST(FiberTest, TakesTurnsWithItsCaller) {
  std::vector<std::string> order;
  const std::unique_ptr<Fiber> fiber = Make([&order](Fiber& self) {
    order.emplace_back("one");
    EXPECT_TRUE(self.Yield());
    order.emplace_back("two");
    EXPECT_TRUE(self.Yield());
    order.emplace_back("three");
  });
  EXPECT_FALSE(fiber->Resume());
  order.emplace_back("a");
  EXPECT_FALSE(fiber->Resume());
  order.emplace_back("b");
  EXPECT_TRUE(fiber->Resume());
  EXPECT_THAT(order, ElementsAre("one", "a", "two", "b", "three"));
}

TEST(FiberTest, LocalsSurviveAndManyInterleave) {
  constexpr int count = 20;
  constexpr int rounds = 50;
  std::vector<double> sums(count);
  std::vector<std::unique_ptr<Fiber>> fibers;
  fibers.reserve(count);
  for (int i = 0; i < count; ++i) {
    fibers.push_back(Make([i, &sums](Fiber& self) {
      double sum = 0;
      for (int round = 0; round < rounds; ++round) {
        sum += std::sqrt(i + round);
        self.Yield();
      }
      sums[static_cast<size_t>(i)] = sum;
    }));
  }
  for (int round = 0; round <= rounds; ++round) {
    for (const std::unique_ptr<Fiber>& fiber : fibers) {
      EXPECT_EQ(fiber->Resume(), round == rounds);
    }
  }
  for (int i = 0; i < count; ++i) {
    double sum = 0;
    for (int round = 0; round < rounds; ++round) sum += std::sqrt(i + round);
    EXPECT_EQ(sums[static_cast<size_t>(i)], sum);
  }
}

TEST(FiberTest, DestroyingOneInTheMiddleLetsItLeave) {
  int left = 0;
  struct OnExit {
    int* left;
    ~OnExit() { ++*left; }
  };
  {
    const std::unique_ptr<Fiber> fiber = Make([&left](Fiber& self) {
      const OnExit on_exit{&left};
      while (self.Yield()) {
      }
      EXPECT_FALSE(self.Yield()) << "asked again, it does not switch";
      ++left;
    });
    EXPECT_FALSE(fiber->Resume());
    EXPECT_FALSE(fiber->Resume());
    EXPECT_EQ(left, 0);
  }
  EXPECT_EQ(left, 2) << "the rest of the body and its destructors ran";
}

TEST(FiberTest, AnExceptionBecomesAnError) {
  const std::unique_ptr<Fiber> fiber = Make([](Fiber& self) {
    self.Yield();
    throw std::runtime_error("no such tensor");
  });
  EXPECT_FALSE(fiber->Resume());
  EXPECT_TRUE(fiber->Resume());
  EXPECT_EQ(fiber->error().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(fiber->error().message(), HasSubstr("no such tensor"));
  const std::unique_ptr<Fiber> other = Make([](Fiber&) { throw 7; });
  EXPECT_TRUE(other->Resume());
  EXPECT_EQ(other->error().code(), absl::StatusCode::kInternal);
}

TEST(FiberTest, AnExceptionWhileLeavingIsHeldBack) {
  const std::unique_ptr<Fiber> fiber = Make([](Fiber& self) {
    if (!self.Yield()) throw std::runtime_error("late");
  });
  EXPECT_FALSE(fiber->Resume());
}

TEST(FiberTest, ExceptionsInsideTheBodyWorkAcrossYields) {
  int caught = 0;
  const auto body = [&caught](Fiber& self) {
    for (int i = 0; i < 3; ++i) {
      try {
        self.Yield();
        throw int{i};
      } catch (int value) {
        caught += value == i ? 1 : 0;
      }
    }
  };
  const std::unique_ptr<Fiber> a = Make(body);
  const std::unique_ptr<Fiber> b = Make(body);
  while (!a->Resume() && !b->Resume()) {
  }
  while (!b->finished()) b->Resume();
  EXPECT_EQ(caught, 6);
}

TEST(FiberTest, HasARealStack) {
  int reached = 0;
  const std::unique_ptr<Fiber> fiber = Make([&reached](Fiber& self) {
    reached = Deep(10'000);
    self.Yield();
    reached += Deep(10'000);
  });
  EXPECT_FALSE(fiber->Resume());
  EXPECT_TRUE(fiber->Resume());
  EXPECT_GE(reached, 20'000);
}

TEST(FiberTest, WhatTheBodyHoldsGoesWhenItEnds) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  const std::unique_ptr<Fiber> fiber =
      Make([held = std::move(held)](Fiber& self) { self.Yield(); });
  EXPECT_FALSE(fiber->Resume());
  EXPECT_FALSE(watch.expired());
  EXPECT_TRUE(fiber->Resume());
  EXPECT_TRUE(watch.expired());
}

TEST(FiberTest, ThreadsMayEachHaveTheirOwn) {
  const auto work = [] {
    const std::unique_ptr<Fiber> fiber = Make([](Fiber& self) {
      for (int i = 0; i < 100; ++i) self.Yield();
    });
    while (!fiber->Resume()) {
    }
  };
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
}

using FiberDeathTest = testing::Test;

TEST(FiberDeathTest, AnOverflowHitsTheGuardPage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto overflow = [] {
    const std::unique_ptr<Fiber> fiber = Make([](Fiber&) { Deep(1'000'000); }, size_t{64} << 10);
    fiber->Resume();
  };
  EXPECT_DEATH(overflow(), "");
}

}  // namespace
}  // namespace superfluid
