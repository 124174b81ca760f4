// Strategies.

#include <openssl/sha.h>

#include <string>
#include <vector>

#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"
#include "tests/conformance/wire.h"

namespace superfluid::conformance {
namespace {

constexpr char kArtifact[] = "the weights of a small draft model";

const std::vector<std::string>& Strategy() {
  static const auto* const kCalls = new std::vector<std::string>{"strategy", "tick"};
  return *kCalls;
}

linkw::Hash Sha256(std::string_view bytes) {
  linkw::Hash hash{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
  return hash;
}

// One that an engine with strategies should take: of no special kind, for any model.
linkw::StrategyRegister MakeStrategy(Context& context, bool with_artifact) {
  linkw::StrategyRegister strategy{.strategy_id = context.StrategyId(), .impl_version = "1"};
  strategy.impl_hash = Sha256("impl");
  strategy.config_hash = Sha256("config");
  strategy.rng_contract_version = 1;
  if (!with_artifact) return strategy;
  strategy.artifacts.push_back({.role = 1,
                                .content_hash = Sha256(kArtifact),
                                .byte_size = sizeof kArtifact - 1,
                                .load_path = context.File("artifact.bin", kArtifact)});
  return strategy;
}

linkw::StrategyGrant Register(Driver& driver, const linkw::StrategyRegister& strategy) {
  return driver.peer().Await<linkw::StrategyGrant>(driver.Send(strategy));
}

// A slot to work with, or the check is skipped.
linkw::StrategySlot Registered(Driver& driver, const linkw::StrategyRegister& strategy) {
  const linkw::StrategyGrant grant = Register(driver, strategy);
  if (grant.status == Status::kFailedPrecondition || grant.status == Status::kUnsupported) {
    Skip("the engine takes strategies of its own only: " + grant.message);
  }
  ExpectEq(grant.status, Status::kOk, "status of STRATEGY_GRANT");
  Expect(grant.strategy_slot != linkw::StrategySlot{}, "the slot 0");
  return grant.strategy_slot;
}

void Granted(Context& context) {
  Driver driver(context);
  const linkw::StrategySlot first = Registered(driver, MakeStrategy(context, false));
  const linkw::StrategySlot second = Registered(driver, MakeStrategy(context, true));
  Expect(first != second, "two strategies have the same slot");
}

void DrawsTheSame(Context& context) {
  Driver driver(context);
  const linkw::StrategySlot slot = Registered(driver, MakeStrategy(context, true));
  for (int i = 0; i < 15; ++i) {
    const Tokens prompt = driver.Prompt(1 + context.Random(40));
    const linkw::Sampling sampling = i % 2 == 0 ? kGreedy : Warm(context.Random(1'000'000));
    const auto count = static_cast<uint32_t>(1 + context.Random(40));
    Lane lane = driver.DecodeLane(kNew, prompt, count, sampling);
    lane.strategy_slot = slot;
    const LaneEvent event = driver.Run(lane);
    ExpectEq(driver.Out(event), driver.Plain(prompt, count, sampling), "a lane with a strategy");
    ExpectEq(event.position, prompt.size() + count, "position");
    driver.Drop(event.sequence);
  }
}

void BuiltInsDrawTheSame(Context& context) {
  Driver driver(context);
  const auto& strategies = driver.ack().registered_strategies;
  if (strategies.empty()) Skip("the engine has no strategies of its own");
  for (const linkw::RegisteredStrategy& strategy : strategies) {
    Expect(strategy.strategy_slot != linkw::StrategySlot{}, "a registered strategy with slot 0");
    const Tokens prompt = driver.Prompt(20);
    Lane lane = driver.DecodeLane(kNew, prompt, 30, Warm(2));
    lane.strategy_slot = strategy.strategy_slot;
    ExpectEq(driver.Out(driver.Run(lane)), driver.Plain(prompt, 30, Warm(2)),
             "a lane with a strategy of the engine's own");
  }
}

void WrongStrings(Context& context) {
  Driver driver(context);
  const auto refused = [&driver](const linkw::StrategyRegister& strategy, std::string_view what) {
    driver.ExpectRefused(driver.Send(strategy), {Status::kInvalidArgument}, what);
  };
  using std::string_literals::operator""s;
  linkw::StrategyRegister strategy = MakeStrategy(context, false);
  strategy.strategy_id = "a\0b"s;
  refused(strategy, "a NUL in the id");
  strategy = MakeStrategy(context, false);
  strategy.impl_version = "1\0"s;
  refused(strategy, "a NUL in the version");
  strategy = MakeStrategy(context, false);
  strategy.target_archs = {"x\0"s};
  refused(strategy, "a NUL in an architecture");
  strategy = MakeStrategy(context, true);
  strategy.artifacts[0].load_path += "\0"s;
  refused(strategy, "a NUL in a path");
  strategy = MakeStrategy(context, false);
  strategy.strategy_id = "\xff";
  refused(strategy, "an id that is not UTF-8");
}

void WrongHashLengths(Context& context) {
  Driver driver(context);
  for (const size_t bytes : {size_t{0}, size_t{31}, size_t{33}}) {
    const std::string hash(bytes, 'h');
    const std::string good(32, 'h');
    for (const std::string& payload :
         {BytesField(3, hash) + BytesField(4, good), BytesField(3, good) + BytesField(4, hash),
          BytesField(3, good) + BytesField(4, good) + BytesField(5, BytesField(2, hash))}) {
      driver.ExpectRefused(
          driver.peer().SendFrame(static_cast<uint16_t>(linkw::MessageType::kStrategyRegister),
                                  payload),
          {Status::kInvalidArgument}, absl::StrCat("a hash of ", bytes, " bytes"));
    }
  }
}

void WrongArtifacts(Context& context) {
  Driver driver(context);
  const auto refused = [&driver](const linkw::StrategyRegister& strategy, Statuses statuses,
                                 std::string_view what) {
    driver.ExpectRefused(driver.Send(strategy), statuses, what);
  };
  linkw::StrategyRegister strategy = MakeStrategy(context, true);
  strategy.artifacts[0].content_hash[31] ^= 1;
  refused(strategy, {Status::kInvalidArgument}, "an artifact with another hash");
  strategy = MakeStrategy(context, true);
  strategy.artifacts[0].byte_size += 1;
  refused(strategy, {Status::kInvalidArgument}, "an artifact of another size");
  strategy = MakeStrategy(context, true);
  strategy.artifacts[0].byte_size = ~uint64_t{0};
  refused(strategy, {Status::kInvalidArgument}, "an artifact of 2^64 - 1 bytes");
  strategy = MakeStrategy(context, true);
  strategy.artifacts[0].load_path = context.settings().folder + "/nothing";
  refused(strategy, {Status::kNotFound}, "an artifact that does not exist");
  for (const char* path : {"", "/"}) {
    strategy.artifacts[0].load_path = path;
    refused(strategy, {Status::kNotFound, Status::kPermissionDenied, Status::kInvalidArgument},
            "an artifact that cannot be");
  }
}

void ArtifactsOutside(Context& context) {
  Driver driver(context);
  linkw::StrategyRegister strategy = MakeStrategy(context, true);
  for (const std::string& path :
       {context.OutsideFile(), context.settings().folder + "/../../etc/passwd"}) {
    strategy.artifacts[0].load_path = path;
    driver.ExpectRefused(driver.Send(strategy), {Status::kPermissionDenied, Status::kNotFound},
                         "an artifact outside the root");
  }
}

void SlotsEndWithTheLink(Context& context) {
  linkw::StrategySlot slot{};
  {
    Driver driver(context);
    slot = Registered(driver, MakeStrategy(context, false));
  }
  Driver driver(context);
  Lane lane = driver.DecodeLane(kNew, driver.Prompt(4), 1);
  lane.strategy_slot = slot;
  driver.ExpectLaneError(lane, {Status::kUnknownHandle}, "a slot of a link that has ended");
}

}  // namespace

void AddStrategyChecks(std::vector<Check>& checks) {
  const auto add = [&checks](const char* ids, const char* title, void (*run)(Context&)) {
    checks.push_back({ids, title, run, Strategy()});
  };
  add("STRAT-1", "strategies are granted", Granted);
  add("DRAW-10 STRAT-1 DRAW-2", "a strategy changes no token", DrawsTheSame);
  checks.push_back(
      {"DRAW-10", "the engine's own strategies change no token", BuiltInsDrawTheSame, {"tick"}});
  add("STRAT-2 FRAME-13 ERR-1", "strings that will not do", WrongStrings);
  add("STRAT-2 FRAME-13 ERR-1", "hashes of another length", WrongHashLengths);
  add("STRAT-3 STRAT-4 ERR-1", "artifacts that are not what they claim", WrongArtifacts);
  add("STRAT-4 ERR-1", "artifacts outside the root", ArtifactsOutside);
  add("STRAT-5 END-1", "slots end with their link", SlotsEndWithTheLink);
}

}  // namespace superfluid::conformance
