#include "engine/generation/session.h"

#include "absl/strings/str_cat.h"

namespace superfluid {

Session::Session(TokenModel& token_model)
    : model(token_model),
      facts(token_model.facts()),
      cache(facts.block_bytes),
      leases(cache, handles, facts.leases),
      sequences(handles, facts.max_sequences,
                [this](AdapterRef made_under) { return model.NewSequence(made_under); }),
      grammars(handles, [this] { return model.Texts(); }),
      biases(handles, facts.vocab()),
      strategies(facts.offer, facts.built_in_strategy,
                 [this](const StrategyId& id) { return model.MakeDrafter(id); }),
      media(handles, token_model.media(), facts.without_media) {
  model.UseCache(cache);
}

absl::Status Session::CheckTokens(absl::Span<const Token> tokens) const {
  for (const Token token : tokens) {
    if (token < facts.vocab()) continue;
    return absl::InvalidArgumentError(absl::StrCat("token ", token, " does not exist"));
  }
  return absl::OkStatus();
}

absl::Status Session::CheckAdapter(const SessionSequence& sequence) const {
  if (sequence.adapter().id == adapter.id) return absl::OkStatus();
  return absl::FailedPreconditionError("the sequence was made under another adapter");
}

absl::StatusOr<bool> Session::ComputeSome(SessionSequence& sequence, uint64_t end,
                                          const CallControl& control) {
  if (sequence.computed() < end) {
    if (absl::Status status = CheckAdapter(sequence); !status.ok()) return status;
  }
  return model.Compute(sequence, end, control);
}

}  // namespace superfluid
