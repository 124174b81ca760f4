#include "engine/llama/llama_grammar.h"

#include <llama.h>

#include <exception>
#include <limits>
#include <utility>

namespace superfluid {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

}  // namespace

void LlamaSamplerDeleter::operator()(llama_sampler* sampler) const noexcept {
  llama_sampler_free(sampler);
}

GrammarMatcher::GrammarMatcher(LlamaSamplerPtr grammar, const llama_vocab* vocab)
    : grammar_(std::move(grammar)), vocab_(vocab) {}

// Lets the grammar forbid candidates. False: it failed.
bool GrammarMatcher::Apply(absl::Span<TokenLogit> candidates) noexcept {
  try {
    std::vector<llama_token_data> data;
    data.reserve(candidates.size());
    for (const TokenLogit& candidate : candidates) {
      data.push_back({static_cast<llama_token>(candidate.token), candidate.logit, 0});
    }
    llama_token_data_array all = {data.data(), data.size(), -1, false};
    llama_sampler_apply(grammar_.get(), &all);
    for (size_t i = 0; i < candidates.size(); ++i) candidates[i].logit = data[i].logit;
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void GrammarMatcher::Filter(absl::Span<TokenLogit> candidates) {
  if (!broken_ && !ended_) broken_ = !Apply(candidates);
  if (!broken_ && !ended_) return;
  for (TokenLogit& candidate : candidates) {
    const bool ends = llama_vocab_is_eog(vocab_, static_cast<llama_token>(candidate.token));
    if (broken_ || !ends) candidate.logit = kNever;
  }
}

bool GrammarMatcher::Accept(Token token) {
  TokenLogit candidate{token, 0};
  Filter(absl::MakeSpan(&candidate, 1));
  if (candidate.logit == kNever) return false;
  if (llama_vocab_is_eog(vocab_, static_cast<llama_token>(token))) {
    ended_ = true;
    return true;
  }
  try {
    llama_sampler_accept(grammar_.get(), static_cast<llama_token>(token));
  } catch (const std::exception&) {
    broken_ = true;
  }
  return !broken_;
}

absl::StatusOr<LlamaGrammar> LlamaGrammar::Compile(const llama_vocab* vocab,
                                                   const std::string& gbnf) {
  try {
    LlamaSamplerPtr start(llama_sampler_init_grammar(vocab, gbnf.c_str(), "root"));
    if (start != nullptr) return LlamaGrammar(std::move(start), vocab);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(std::string("the grammar cannot be made: ") + error.what());
  }
  return absl::InvalidArgumentError("the grammar cannot be made: it has too many repetitions");
}

std::unique_ptr<GrammarMatcher> LlamaGrammar::NewMatcher() const {
  try {
    LlamaSamplerPtr copy(llama_sampler_clone(start_.get()));
    if (copy == nullptr) return nullptr;
    return std::make_unique<GrammarMatcher>(std::move(copy), vocab_);
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace superfluid
