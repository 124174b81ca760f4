#include "engine/abi/plugin_generation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/abi/state_spaces.h"
#include "engine/abi/text.h"

// What every call needs, and the calls about sequences. The others are beside this file, by topic.
namespace superfluid {
namespace {

absl::StatusOr<BuiltInStrategy> StrategyFromAbi(const sfl_built_in_strategy& raw) {
  BuiltInStrategy strategy;
  strategy.slot = StrategySlot{raw.slot};
  strategy.strategy_id = ValidUtf8(TextOfArray(raw.strategy_id, sizeof raw.strategy_id));
  strategy.impl_version = ValidUtf8(TextOfArray(raw.impl_version, sizeof raw.impl_version));
  if (strategy.strategy_id.empty())
    return BrokenRule("strategies", "has a strategy without a name");
  return strategy;
}

}  // namespace

PluginGeneration::PluginGeneration(PluginHandle plugin, const EngineInfo& info)
    : plugin_(plugin),
      vocab_size_(info.vocab_size),
      max_lanes_(info.max_lanes),
      tick_port_(info.vocab_size) {}

absl::StatusOr<std::unique_ptr<PluginGeneration>> PluginGeneration::Create(PluginHandle plugin,
                                                                           const EngineInfo& info) {
  std::unique_ptr<PluginGeneration> generation(new PluginGeneration(plugin, info));
  if (absl::Status status = generation->DescribeSpaces(); !status.ok()) return status;
  if (absl::Status status = generation->DescribeStrategies(); !status.ok()) return status;
  return generation;
}

absl::Status PluginGeneration::DescribeSpaces() {
  if (functions().state_spaces == nullptr) return absl::OkStatus();
  GuardedList<sfl_state_space> list(SFL_MAX_STATE_SPACES);
  sfl_list raw = list.abi();
  absl::Status status = InPlugin("state_spaces", [&](sfl_error* error) {
    return functions().state_spaces(plugin_.engine, &raw, error);
  });
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<StateSpace>> spaces = TakeStateSpaces("state_spaces", list, raw.count);
  if (!spaces.ok()) return spaces.status();
  spaces_ = *std::move(spaces);
  return absl::OkStatus();
}

absl::Status PluginGeneration::DescribeStrategies() {
  if (functions().strategies == nullptr) return absl::OkStatus();
  GuardedList<sfl_built_in_strategy> list(SFL_MAX_STRATEGIES);
  sfl_list raw = list.abi();
  absl::Status status = InPlugin("strategies", [&](sfl_error* error) {
    return functions().strategies(plugin_.engine, &raw, error);
  });
  if (!status.ok()) return status;
  if (!list.intact()) return WrotePastTheEnd("strategies");
  if (raw.count > list.capacity()) {
    return BrokenRule("strategies", "has ", raw.count, "; the limit is ", list.capacity());
  }
  HandleLedger slots("strategy");
  for (const sfl_built_in_strategy& element : list.Take(raw.count)) {
    absl::StatusOr<BuiltInStrategy> strategy = StrategyFromAbi(element);
    if (!strategy.ok()) return strategy.status();
    if (absl::Status added = slots.Add("strategies", element.slot); !added.ok()) return added;
    built_in_.push_back(*std::move(strategy));
  }
  return absl::OkStatus();
}

absl::Status PluginGeneration::InPlugin(absl::string_view name, Call call) {
  return CallPlugin(name, error_, call);
}

absl::Status PluginGeneration::CheckCancelled(absl::string_view name, absl::Status status,
                                              const CallControl& control) {
  if (!absl::IsCancelled(status) || control.token().cancelled()) return status;
  return BrokenRule(name, "cancelled what nobody cancelled");
}

absl::StatusOr<uint64_t> PluginGeneration::Made(const std::string& name, HandleLedger& ledger,
                                                NumberCall call) {
  GuardedValue<uint64_t> handle;
  absl::Status status = InPlugin(name, [&](sfl_error* error) { return call(handle.get(), error); });
  if (!handle.intact()) return WrotePastTheEnd(name);
  if (!status.ok()) return status;
  if (status = ledger.Add(name, handle.value()); !status.ok()) return status;
  return handle.value();
}

absl::StatusOr<uint64_t> PluginGeneration::Number(const std::string& name, uint64_t unset,
                                                  NumberCall call) {
  GuardedValue<uint64_t> number(unset);
  absl::Status status = InPlugin(name, [&](sfl_error* error) { return call(number.get(), error); });
  if (!number.intact()) return WrotePastTheEnd(name);
  if (!status.ok()) return status;
  if (number.value() == unset) return BrokenRule(name, "left its result unset");
  return number.value();
}

absl::Status PluginGeneration::CheckTokens(absl::Span<const Token> tokens) const {
  const auto outside = std::find_if(tokens.begin(), tokens.end(),
                                    [this](Token token) { return token >= vocab_size_; });
  if (outside == tokens.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("token ", *outside, " is outside the vocabulary of ", vocab_size_));
}

absl::Status PluginGeneration::CheckSequenceAndTokens(SequenceHandle sequence,
                                                      absl::Span<const Token> tokens) const {
  absl::Status status = sequences_.CheckLive(static_cast<uint64_t>(sequence));
  return status.ok() ? CheckTokens(tokens) : status;
}

absl::StatusOr<SequenceHandle> PluginGeneration::CreateSequence() {
  CheckThread("create_sequence");
  if (functions().create_sequence == nullptr) return Generation::CreateSequence();
  const absl::StatusOr<uint64_t> made =
      Made("create_sequence", sequences_, [&](uint64_t* sequence, sfl_error* error) {
        return functions().create_sequence(plugin_.engine, sequence, error);
      });
  if (!made.ok()) return made.status();
  return SequenceHandle{*made};
}

absl::Status PluginGeneration::FreeSequence(SequenceHandle sequence) {
  CheckThread("free_sequence");
  if (functions().free_sequence == nullptr) return Generation::FreeSequence(sequence);
  const auto handle = static_cast<uint64_t>(sequence);
  if (absl::Status status = sequences_.CheckLive(handle); !status.ok()) return status;
  sequences_.Remove(handle);
  return InPlugin("free_sequence", [&](sfl_error* error) {
    return functions().free_sequence(plugin_.engine, handle, error);
  });
}

absl::StatusOr<SequenceHandle> PluginGeneration::Fork(SequenceHandle parent, uint32_t flags) {
  CheckThread("fork");
  if (functions().fork == nullptr) return Generation::Fork(parent, flags);
  const auto handle = static_cast<uint64_t>(parent);
  if (absl::Status status = sequences_.CheckLive(handle); !status.ok()) return status;
  const absl::StatusOr<uint64_t> made =
      Made("fork", sequences_, [&](uint64_t* sequence, sfl_error* error) {
        return functions().fork(plugin_.engine, handle, flags, sequence, error);
      });
  if (!made.ok()) return made.status();
  return SequenceHandle{*made};
}

absl::Status PluginGeneration::Trim(SequenceHandle sequence, SpaceId space, uint64_t new_len) {
  CheckThread("trim");
  if (functions().trim == nullptr) return Generation::Trim(sequence, space, new_len);
  const auto handle = static_cast<uint64_t>(sequence);
  if (absl::Status status = sequences_.CheckLive(handle); !status.ok()) return status;
  return InPlugin("trim", [&](sfl_error* error) {
    return functions().trim(plugin_.engine, handle, static_cast<uint32_t>(space), new_len, error);
  });
}

absl::StatusOr<SequenceHandle> PluginGeneration::LaneSequence(LaneTag tag) {
  CheckThread("lane_sequence");
  if (functions().lane_sequence == nullptr) return Generation::LaneSequence(tag);
  const absl::StatusOr<uint64_t> found =
      Number("lane_sequence", 0, [&](uint64_t* sequence, sfl_error* error) {
        return functions().lane_sequence(plugin_.engine, static_cast<uint64_t>(tag), sequence,
                                         error);
      });
  if (!found.ok()) return found.status();
  if (!sequences_.live(*found)) {
    return BrokenRule("lane_sequence", "names sequence ", *found, ", which is none");
  }
  return SequenceHandle{*found};
}

void PluginGeneration::EndSession() {
  CheckThread("end_session");
  for (HandleLedger* ledger : {&sequences_, &grammars_, &biases_, &media_, &strategies_}) {
    ledger->RemoveAll();
  }
  if (functions().end_session == nullptr) return;
  const absl::Status status = InPlugin("end_session", [&](sfl_error* error) {
    return functions().end_session(plugin_.engine, error);
  });
  if (!status.ok()) plugin_.log->Write(EngineLogLevel::kError, status.message());
}

}  // namespace superfluid
