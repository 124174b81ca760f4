#include "tests/simulation/plan.h"

#include <array>
#include <cstddef>

#include "tests/simulation/dice.h"

namespace superfluid::simulation {
namespace {

struct Weight {
  ActionKind kind;
  uint32_t weight;
};

struct Profile {
  const char* name;
  std::vector<Weight> more;  // added to the weights that every profile has
};

constexpr std::array kNames = {"CONNECT_DRIVER", "CONNECT_OBSERVER",
                               "CONNECT_ODDLY",  "HANG_UP",
                               "RUBBISH",        "ODD_MESSAGE",
                               "HALF_FRAME",     "TICK",
                               "TICK_BURST",     "CALL",
                               "SEED",           "OP",
                               "TRANSCRIBE",     "AUDIO",
                               "CANCEL",         "STOP_BIT",
                               "STOP_WORD",      "ATTACH_BUFFER",
                               "LOOSE_FD",       "ALLOC_BUFFER",
                               "RELEASE_BUFFER", "PING",
                               "DRAIN",          "READ_OR_NOT",
                               "ADVANCE",        "PAUSE",
                               "ACTOR_DIES",     "INSIDE_STEP",
                               "FLOOD",          "KERNEL_REFUSES",
                               "NO_THREAD",      "HANG"};
static_assert(kNames.size() == kActionKinds);

const std::vector<Weight>& CommonWeights() {
  static const auto& weights = *new std::vector<Weight>{
      {ActionKind::kConnectDriver, 3}, {ActionKind::kConnectObserver, 1},
      {ActionKind::kHangUp, 1},        {ActionKind::kOddMessage, 1},
      {ActionKind::kTick, 6},          {ActionKind::kCall, 5},
      {ActionKind::kSeed, 2},          {ActionKind::kOp, 3},
      {ActionKind::kTranscribe, 6},    {ActionKind::kAudio, 6},
      {ActionKind::kCancel, 4},        {ActionKind::kStopBit, 1},
      {ActionKind::kStopWord, 1},      {ActionKind::kAttachBuffer, 2},
      {ActionKind::kReleaseBuffer, 1}, {ActionKind::kAllocBuffer, 1},
      {ActionKind::kPing, 2},          {ActionKind::kAdvance, 8},
      {ActionKind::kInsideStep, 2},
  };
  return weights;
}

const std::vector<Profile>& Profiles() {
  static const auto& profiles = *new std::vector<Profile>{
      {"mixed", {}},
      {"speech",
       {{ActionKind::kTranscribe, 15},
        {ActionKind::kAudio, 25},
        {ActionKind::kCancel, 6},
        {ActionKind::kStopWord, 4},
        {ActionKind::kReadOrNot, 2},
        {ActionKind::kAdvance, 8}}},
      {"ticks",
       {{ActionKind::kTick, 25},
        {ActionKind::kTickBurst, 4},
        {ActionKind::kStopBit, 6},
        {ActionKind::kInsideStep, 8},
        {ActionKind::kSeed, 4}}},
      {"state",
       {{ActionKind::kOp, 20},
        {ActionKind::kCall, 15},
        {ActionKind::kSeed, 15},
        {ActionKind::kAttachBuffer, 6},
        {ActionKind::kReleaseBuffer, 6},
        {ActionKind::kCancel, 4}}},
      {"descriptors",
       {{ActionKind::kAttachBuffer, 25},
        {ActionKind::kLooseFd, 8},
        {ActionKind::kAllocBuffer, 8},
        {ActionKind::kReleaseBuffer, 8},
        {ActionKind::kCancel, 6},
        {ActionKind::kPing, 6}}},
      {"links",
       {{ActionKind::kConnectDriver, 12},
        {ActionKind::kConnectObserver, 8},
        {ActionKind::kConnectOddly, 6},
        {ActionKind::kHangUp, 10},
        {ActionKind::kHalfFrame, 4},
        {ActionKind::kRubbish, 3},
        {ActionKind::kOddMessage, 6}}},
      {"slow reader",
       {{ActionKind::kReadOrNot, 10},
        {ActionKind::kFlood, 1},
        {ActionKind::kTranscribe, 20},
        {ActionKind::kCall, 20},
        {ActionKind::kTickBurst, 2}}},
      {"faults",
       {{ActionKind::kPause, 4},
        {ActionKind::kActorDies, 2},
        {ActionKind::kTick, 10},
        {ActionKind::kTranscribe, 10},
        {ActionKind::kDrain, 2}}},
      {"shortages",
       {{ActionKind::kKernelRefuses, 8},
        {ActionKind::kNoThread, 5},
        {ActionKind::kHang, 5},
        {ActionKind::kOp, 15},
        {ActionKind::kCall, 10},
        {ActionKind::kAttachBuffer, 10},
        {ActionKind::kAllocBuffer, 8},
        {ActionKind::kTranscribe, 10},
        {ActionKind::kCancel, 4}}},
      {"drains",
       {{ActionKind::kDrain, 6}, {ActionKind::kConnectDriver, 4}, {ActionKind::kAllocBuffer, 4}}},
  };
  return profiles;
}

std::vector<uint32_t> WeightsOf(const Profile& profile) {
  std::vector<uint32_t> weights(kActionKinds);
  for (const Weight& weight : CommonWeights())
    weights.at(static_cast<size_t>(weight.kind)) += weight.weight;
  for (const Weight& weight : profile.more)
    weights.at(static_cast<size_t>(weight.kind)) += weight.weight;
  return weights;
}

ActionKind Draw(const std::vector<uint32_t>& weights, Dice& dice) {
  uint32_t all = 0;
  for (const uint32_t weight : weights) all += weight;
  uint32_t left = dice.Below(all);
  for (size_t kind = 0; kind < weights.size(); ++kind) {
    if (left < weights[kind]) return static_cast<ActionKind>(kind);
    left -= weights[kind];
  }
  return ActionKind::kAdvance;
}

// Returns how many handlers run after an action: none, a few, or enough to come to rest.
uint32_t DrawHandlers(Dice& dice) {
  switch (dice.Below(4)) {
    case 0:
      return dice.Below(4);
    case 1:
      return dice.Below(30);
    case 2:
      return dice.Below(200);
    default:
      return 100'000;
  }
}

std::vector<std::pair<std::string, std::string>> DrawEngine(Dice& dice) {
  const auto pick = [&dice](std::initializer_list<const char*> choices) {
    return std::string(dice.Pick(choices));
  };
  return {{"step_us", pick({"200", "2000", "8000"})},
          {"steps_per_segment", pick({"1", "5"})},
          {"segment_ms", "100"},
          {"max_transcriptions", pick({"2", "4", "64"})},
          {"tick_us", pick({"0", "500", "20000"})},
          {"token_us", pick({"0", "100"})},
          {"op_us", pick({"0", "3000", "50000"})},
          {"op_chunk_bytes", "512"},
          {"pool_blocks", pick({"64", "512"})},
          {"ttl_ms", "500"}};
}

}  // namespace

namespace {

// Draws what the engine does wrong, once in its life or in the life of each job; mostly nothing.
// How long "slow" and "stuck" are is short enough for the watchdog to let it pass.
std::string DrawFault(Dice& dice) {
  static constexpr std::array kFaults = {"slow_at_step",  "stuck_at_step", "fail_at_step",
                                         "slow_at_tick",  "stuck_at_tick", "fail_at_tick",
                                         "wrong_at_tick", "slow_at_op",    "stuck_at_op",
                                         "fail_at_op",    "stuck_at_call", "emit_after_cancel"};
  return dice.OneIn(4) ? dice.Pick(kFaults) : std::string();
}

void AddFault(const std::string& fault, Dice& dice, Plan& plan) {
  plan.fault = fault;
  if (fault.empty()) return;
  const bool is_flag = fault == "emit_after_cancel";
  plan.engine_options.emplace_back(fault, is_flag ? "1" : std::to_string(dice.Between(1, 6)));
  plan.engine_options.emplace_back("slow_us", std::to_string(kSlowUs));
  plan.engine_options.emplace_back("stuck_ms", std::to_string(kStuckMs));
  if (fault == "stuck_at_call") plan.engine_options.emplace_back("call_passes", "2");
}

}  // namespace

std::string_view NameOf(ActionKind kind) { return kNames.at(static_cast<size_t>(kind)); }

Plan MakePlan(uint64_t seed) {
  Dice dice(seed);
  const Profile& profile = dice.Pick(Profiles());
  Plan plan{.seed = seed, .profile = profile.name, .engine_options = DrawEngine(dice)};
  AddFault(DrawFault(dice), dice, plan);
  const std::vector<uint32_t> weights = WeightsOf(profile);
  const uint32_t length = dice.Between(10, 70);
  plan.actions.push_back({.kind = ActionKind::kConnectDriver, .draw = dice.Below(1u << 24)});
  for (uint32_t i = 0; i < length; ++i) {
    plan.actions.push_back({.kind = Draw(weights, dice),
                            .draw = dice.Below(1u << 24),
                            .handlers = DrawHandlers(dice)});
  }
  return plan;
}

}  // namespace superfluid::simulation
