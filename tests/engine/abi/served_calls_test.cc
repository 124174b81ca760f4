#include "engine/abi/served_calls.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/abi/superfluid_engine.h"
#include "engine/engine.h"

namespace superfluid {
namespace {

sfl_status RunTick(sfl_engine* /*engine*/, const sfl_tick* /*tick*/, sfl_error* /*error*/) {
  return SFL_OK;
}

sfl_status Fork(sfl_engine* /*engine*/, uint64_t /*parent*/, uint32_t /*flags*/,
                uint64_t* /*sequence*/, sfl_error* /*error*/) {
  return SFL_OK;
}

sfl_engine_vtable Table() {
  sfl_engine_vtable table = {};
  table.run_tick = RunTick;
  table.fork = Fork;
  return table;
}

TEST(ServedCallsTest, AnEngineThatSaysThemIsBelieved) {
  const std::string json = R"({"calls":["trim"]})";
  EXPECT_EQ(WithServedCalls(json, Table(), {}, true), json);
}

TEST(ServedCallsTest, AnEngineThatDoesNotSayThemHasWhatItsTableHas) {
  EXPECT_EQ(WithServedCalls(R"({"name":"mine"})", Table(), {}, true),
            R"({"calls":["tick","fork"],"name":"mine"})");
}

TEST(ServedCallsTest, SpeechIsServedWhereDescribeSaysHowMuch) {
  EngineInfo info;
  info.max_transcriptions = 2;
  EXPECT_EQ(WithServedCalls("{}", Table(), info, false), R"({"calls":["transcribe"]})");
}

TEST(ServedCallsTest, TheSmallestEngineServesNothing) {
  EXPECT_EQ(WithServedCalls("{}", {}, {}, false), R"({"calls":[]})");
}

TEST(ServedCallsTest, WhatIsNoObjectStays) {
  EXPECT_EQ(WithServedCalls("[1]", Table(), {}, true), "[1]");
  EXPECT_EQ(WithServedCalls("", Table(), {}, true), "");
}

}  // namespace
}  // namespace superfluid
