#ifndef SUPERFLUID_ENGINE_CONSTRAIN_GRAMMAR_BOOK_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_GRAMMAR_BOOK_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/call_control.h"
#include "engine/constrain/lane_constraint.h"
#include "engine/constrain/vocabulary.h"
#include "engine/handles.h"
#include "engine/sampling/handle_source.h"

namespace superfluid {

// The grammars of one engine. Equal texts share one grammar and its masks; the vocabulary's trie is
// made with the first. Threads: one. Lifetime: the handle source outlives it; it outlives every
// LaneConstraint.
//
// Invariant: BeginTick leaves at most kMaxMaskBytes of masks; a tick adds at most what its draws
// need.
class GrammarBook {
 public:
  static constexpr size_t kMaxGrammars = 1024;
  static constexpr size_t kMaxGrammarBytes = size_t{512} << 20U;  // of all grammars
  static constexpr size_t kMaxMaskBytes = size_t{256} << 20U;     // of all masks

  // `tokens` is asked for once.
  GrammarBook(HandleSource& handles, std::function<TokenTexts()> tokens)
      : handles_(handles), tokens_(std::move(tokens)) {}

  // Errors: those of json_grammar.h; ResourceExhausted: too many grammars, or too large ones.
  absl::StatusOr<GrammarHandle> AddSchema(absl::string_view schema, const CallControl& control);
  absl::StatusOr<GrammarHandle> AddTags(absl::string_view tags, const CallControl& control);
  absl::Status Free(GrammarHandle handle);  // NotFound
  void Clear();

  // Returns null for handle 0; NotFound.
  absl::StatusOr<std::shared_ptr<TokenGrammar>> Find(GrammarHandle handle) const;

  // Starts a new budget for masks, and forgets all masks if there are too many.
  void BeginTick();
  // Returns what grammars and masks take, the vocabulary's trie included.
  size_t bytes() const;

 private:
  using Compiler = absl::StatusOr<std::shared_ptr<const Grammar>> (*)(absl::string_view,
                                                                      const CallControl&);

  absl::StatusOr<GrammarHandle> Add(char kind, absl::string_view text, absl::string_view spelled,
                                    Compiler compile, const CallControl& control);

  HandleSource& handles_;
  const std::function<TokenTexts()> tokens_;
  std::optional<Vocabulary> vocabulary_;
  MaskBudget budget_;
  std::map<GrammarHandle, std::shared_ptr<TokenGrammar>> grammars_;
  std::map<std::string, std::weak_ptr<TokenGrammar>> by_text_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_GRAMMAR_BOOK_H_
