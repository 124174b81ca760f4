#include "engine/llama/state_layout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace superfluid {
namespace {

// One cache with one layer: keys of 8 bytes a token, values of 4.
class StateLayoutTest : public ::testing::Test {
 protected:
  template <typename Number>
  static void Put(std::vector<std::byte>& bytes, Number number) {
    bytes.resize(bytes.size() + sizeof(number));
    std::memcpy(bytes.data() + bytes.size() - sizeof(number), &number, sizeof(number));
  }

  static std::vector<std::byte> State(const std::vector<int32_t>& positions, int32_t sequence,
                                      bool magic = true) {
    std::vector<std::byte> bytes;
    if (magic) Put<uint32_t>(bytes, 0xABCD);
    if (magic) Put<int32_t>(bytes, sequence);
    Put<uint32_t>(bytes, 1);
    Put<uint32_t>(bytes, static_cast<uint32_t>(positions.size()));
    for (const int32_t position : positions) {
      Put<int32_t>(bytes, position);
      Put<uint32_t>(bytes, 1);
      Put<int32_t>(bytes, sequence);
    }
    Put<uint32_t>(bytes, 0);
    Put<uint32_t>(bytes, 1);
    for (const uint64_t row : {8, 4}) {
      Put<int32_t>(bytes, 0);
      Put<uint64_t>(bytes, row);
      bytes.resize(bytes.size() + row * positions.size(), std::byte{0x35});
    }
    return bytes;
  }

  static StateLayout Learned(bool magic = true) {
    StateLayout layout;
    layout.Learn(State({0, 1}, 3, magic), 2);
    return layout;
  }
};

TEST_F(StateLayoutTest, LearnsSizes) {
  for (const bool magic : {true, false}) {
    const StateLayout layout = Learned(magic);
    ASSERT_TRUE(layout.known());
    EXPECT_EQ(layout.kv_bytes_per_token(), 12U);
    EXPECT_EQ(layout.bytes_per_token(), 24U);
    EXPECT_EQ(layout.Bytes(5), State({0, 1, 2, 3, 4}, 0, magic).size());
  }
}

TEST_F(StateLayoutTest, DoesNotLearnWhatItDoesNotKnow) {
  const std::vector<std::byte> state = State({0, 1}, 3);
  for (size_t size = 0; size < state.size(); ++size) {
    StateLayout layout;
    layout.Learn(absl::MakeConstSpan(state).first(size), 2);
    EXPECT_FALSE(layout.known() && size > 0) << size;
  }
  StateLayout layout;
  layout.Learn(state, 3);
  EXPECT_FALSE(layout.known());
}

TEST_F(StateLayoutTest, ChecksPositionsAndForm) {
  const StateLayout layout = Learned();
  EXPECT_TRUE(layout.Check(State({4, 5, 6}, 9), {4, 7}).ok());
  EXPECT_TRUE(layout.Check(State({6, 4, 5}, 9), {4, 7}).ok());
  EXPECT_FALSE(layout.Check(State({4, 5, 5}, 9), {4, 7}).ok());
  EXPECT_FALSE(layout.Check(State({4, 5, 7}, 9), {4, 7}).ok());
  EXPECT_FALSE(layout.Check(State({4, 5, -1}, 9), {4, 7}).ok());
  EXPECT_FALSE(layout.Check(State({4, 5}, 9), {4, 7}).ok());
  EXPECT_FALSE(layout.Check({}, {4, 7}).ok());
}

TEST_F(StateLayoutTest, EveryByteOfTheFormCounts) {
  const StateLayout layout = Learned();
  const std::vector<std::byte> state = State({0, 1}, 0);
  for (size_t i = 0; i < state.size(); ++i) {
    std::vector<std::byte> wrong = state;
    wrong[i] ^= std::byte{0x80};  // of a number: its sign
    const bool refused = !layout.Check(wrong, {0, 2}).ok();
    const bool sequence = (i >= 4 && i < 8) || (i >= 24 && i < 28) || (i >= 36 && i < 40);
    EXPECT_EQ(refused, !sequence && state[i] != std::byte{0x35}) << i;
  }
}

TEST_F(StateLayoutTest, NumbersMustBeSome) {
  const StateLayout layout = Learned();
  std::vector<std::byte> state = State({0}, 0);
  ASSERT_TRUE(layout.Check(state, {0, 1}).ok());
  for (const float wrong : {NAN, INFINITY, -INFINITY, 1e30F}) {
    std::memcpy(state.data() + state.size() - sizeof(wrong), &wrong, sizeof(wrong));
    EXPECT_FALSE(layout.Check(state, {0, 1}).ok()) << wrong;
  }
}

TEST_F(StateLayoutTest, HidesTheSequence) {
  const StateLayout layout = Learned();
  std::vector<std::byte> state = State({0, 1, 2}, 77);
  layout.HideSequence(absl::MakeSpan(state), 3);
  EXPECT_EQ(state, State({0, 1, 2}, 0));
}

}  // namespace
}  // namespace superfluid
