#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/abi/plugin_generation.h"

// Of PluginGeneration: embeddings and stages of the model.
namespace superfluid {
namespace {

constexpr size_t kFirstFloats = 16384;
constexpr size_t kFirstHiddenBytes = size_t{1} << 20U;
// The first try, and one with the room asked for.
constexpr int kTries = 2;

}  // namespace

absl::StatusOr<std::optional<std::vector<float>>> PluginGeneration::TryEmbed(
    absl::Span<const Token> tokens, const CallControl& control, size_t& room) {
  GuardedList<float> list(room);
  sfl_list raw = list.abi();
  const OpenCall open(call_port_, control);
  const absl::Status status = InPlugin("embed", [&](sfl_error* error) {
    return functions().embed(plugin_.engine, tokens.data(), tokens.size(), open.abi(), &raw, error);
  });
  if (!list.intact()) return WrotePastTheEnd("embed");
  if (!status.ok()) return CheckCancelled("embed", status, control);
  if (raw.count > SFL_MAX_EMBEDDING) {
    return BrokenRule("embed", "has ", raw.count, " floats; the limit is ", SFL_MAX_EMBEDDING);
  }
  if (raw.count > std::exchange(room, raw.count)) return std::optional<std::vector<float>>();
  std::vector<float> values = list.Take(raw.count);
  if (!std::all_of(values.begin(), values.end(),
                   [](float value) { return std::isfinite(value); })) {
    return BrokenRule("embed", "has a value that is no finite number");
  }
  return values;
}

absl::StatusOr<std::vector<float>> PluginGeneration::Embed(absl::Span<const Token> tokens,
                                                           const CallControl& control) {
  CheckThread("embed");
  if (functions().embed == nullptr) return Generation::Embed(tokens, control);
  if (absl::Status status = CheckTokens(tokens); !status.ok()) return status;
  size_t room = kFirstFloats;
  for (int i = 0; i < kTries; ++i) {
    absl::StatusOr<std::optional<std::vector<float>>> values = TryEmbed(tokens, control, room);
    if (!values.ok()) return values.status();
    if (values->has_value()) return **std::move(values);
  }
  return BrokenRule("embed", "asks for more room each time");
}

absl::StatusOr<std::optional<StageOutput>> PluginGeneration::TryStage(const sfl_stage& stage,
                                                                      const CallControl& control,
                                                                      size_t& room) {
  GuardedBuffer buffer(room);
  sfl_output hidden = {buffer.data(), buffer.capacity(), 0};
  GuardedValue<sfl_stage_result> result;
  const OpenCall open(call_port_, control);
  const absl::Status status = InPlugin("forward_stage", [&](sfl_error* error) {
    return functions().forward_stage(plugin_.engine, &stage, open.abi(), result.get(), &hidden,
                                     error);
  });
  if (!buffer.intact() || !result.intact()) return WrotePastTheEnd("forward_stage");
  if (!status.ok()) return CheckCancelled("forward_stage", status, control);
  const sfl_stage_result raw = result.value();
  if (raw.kind == SFL_STAGE_TOKEN) {
    if (raw.token < vocab_size_) return StageOutput{Token{raw.token}};
    return BrokenRule("forward_stage", "drew token ", raw.token,
                      ", which is outside the vocabulary");
  }
  if (raw.kind != SFL_STAGE_HIDDEN) return BrokenRule("forward_stage", "left its result unset");
  if (hidden.size > SFL_MAX_HIDDEN_BYTES) {
    return BrokenRule("forward_stage", "has ", hidden.size, " bytes; the limit is ",
                      SFL_MAX_HIDDEN_BYTES);
  }
  if (hidden.size > std::exchange(room, hidden.size)) return std::optional<StageOutput>();
  // From the buffer's own data: the plug-in may have changed the pointer in `hidden`.
  return StageOutput{std::string(buffer.data(), hidden.size)};
}

absl::StatusOr<StageOutput> PluginGeneration::ForwardStage(const StageWork& work,
                                                           const CallControl& control) {
  CheckThread("forward_stage");
  if (functions().forward_stage == nullptr) return Generation::ForwardStage(work, control);
  if (absl::Status status = CheckTokens(work.tokens); !status.ok()) return status;
  sfl_stage stage = {};
  stage.struct_size = sizeof stage;
  stage.flags = work.has_hidden ? uint32_t{SFL_STAGE_HAS_HIDDEN} : 0U;
  stage.start_layer = work.start_layer;
  stage.end_layer = work.end_layer;
  stage.tokens = work.tokens.data();
  stage.token_count = work.tokens.size();
  stage.hidden = work.hidden.data();
  stage.hidden_size = work.hidden.size();
  // What comes out is mostly as large as what went in.
  size_t room = std::max(kFirstHiddenBytes, work.hidden.size());
  for (int i = 0; i < kTries; ++i) {
    absl::StatusOr<std::optional<StageOutput>> output = TryStage(stage, control, room);
    if (!output.ok()) return output.status();
    if (output->has_value()) return **std::move(output);
  }
  return BrokenRule("forward_stage", "asks for more room each time");
}

}  // namespace superfluid
