#include "engine/sim/sim_steering.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

absl::Status None(GrammarHandle handle) {
  return absl::NotFoundError(absl::StrCat("no grammar ", static_cast<uint64_t>(handle)));
}

}  // namespace

absl::StatusOr<GrammarHandle> SimSteering::AddGrammar(SimGrammar grammar) {
  if (grammars_.size() >= kSimMaxGrammars) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", kSimMaxGrammars, " grammars"));
  }
  const auto handle = handles_.Next<GrammarHandle>();
  grammars_.emplace(handle, std::move(grammar));
  return handle;
}

absl::Status SimSteering::FreeGrammar(GrammarHandle handle) {
  return grammars_.erase(handle) == 1 ? absl::OkStatus() : None(handle);
}

absl::StatusOr<const SimGrammar*> SimSteering::Grammar(GrammarHandle handle) const {
  if (handle == GrammarHandle{}) return nullptr;
  const auto found = grammars_.find(handle);
  if (found == grammars_.end()) return None(handle);
  return &found->second;
}

void SimSteering::Clear() {
  grammars_.clear();
  biases_.Clear();
}

}  // namespace superfluid
