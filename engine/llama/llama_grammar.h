#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_GRAMMAR_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_GRAMMAR_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/handles.h"
#include "engine/sampling/sampler.h"

struct llama_sampler;
struct llama_vocab;

namespace superfluid {

struct LlamaSamplerDeleter {
  void operator()(llama_sampler* sampler) const noexcept;
};
using LlamaSamplerPtr = std::unique_ptr<llama_sampler, LlamaSamplerDeleter>;

// Reads a text token by token and says which tokens may follow: the library's grammar, guarded (its
// accept throws, or ends the process, for a token that it forbids).
//
// Once a token that ends the text was read, only such tokens may follow. After an exception of the
// library nothing may. Control tokens, which the library takes for their names, may come only where
// they are meant. Threads: one. Lifetime: the vocabulary must outlive it.
class GrammarMatcher : public TokenFilter {
 public:
  // `forbidden`: by token; shared, since it is as long as the vocabulary.
  GrammarMatcher(LlamaSamplerPtr grammar, const llama_vocab* vocab,
                 std::shared_ptr<const std::vector<bool>> forbidden);

  // False: no text of the grammar continues so; nothing was read then.
  bool Accept(Token token);
  void Filter(absl::Span<TokenLogit> candidates) override;

 private:
  bool Apply(absl::Span<TokenLogit> candidates) noexcept;

  const LlamaSamplerPtr grammar_;
  const llama_vocab* const vocab_;
  const std::shared_ptr<const std::vector<bool>> forbidden_;
  bool ended_ = false;
  bool broken_ = false;
};

// A compiled grammar. Immutable. Lifetime: the vocabulary must outlive it.
class LlamaGrammar {
 public:
  // `gbnf`: the grammar in the library's notation, its start being "root". `spelled`: a text; a
  // control token is meant if its name occurs there ("<tool_call>" in tags). InvalidArgument: the
  // library refuses it.
  static absl::StatusOr<LlamaGrammar> Compile(const llama_vocab* vocab, const std::string& gbnf,
                                              absl::string_view spelled);

  // At the beginning of the text. Null: no memory.
  std::unique_ptr<GrammarMatcher> NewMatcher() const;

 private:
  LlamaGrammar(LlamaSamplerPtr start, const llama_vocab* vocab,
               std::shared_ptr<const std::vector<bool>> forbidden)
      : start_(std::move(start)), vocab_(vocab), forbidden_(std::move(forbidden)) {}

  LlamaSamplerPtr start_;
  const llama_vocab* vocab_;
  std::shared_ptr<const std::vector<bool>> forbidden_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_GRAMMAR_H_
