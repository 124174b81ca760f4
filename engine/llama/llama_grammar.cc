#include "engine/llama/llama_grammar.h"

#include <llama.h>

#include <exception>
#include <limits>
#include <utility>

#include "absl/strings/match.h"

namespace superfluid {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// The tokens that are no text but have names, without those that end the text.
std::shared_ptr<const std::vector<bool>> Forbidden(const llama_vocab* vocab,
                                                   absl::string_view spelled) {
  constexpr int kNoText =
      LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN | LLAMA_TOKEN_ATTR_UNUSED;
  std::vector<bool> forbidden(static_cast<size_t>(llama_vocab_n_tokens(vocab)));
  for (size_t i = 0; i < forbidden.size(); ++i) {
    const auto token = static_cast<llama_token>(i);
    if ((llama_vocab_get_attr(vocab, token) & kNoText) == 0) continue;
    if (llama_vocab_is_eog(vocab, token)) continue;
    const absl::string_view name = llama_vocab_get_text(vocab, token);
    forbidden[i] = name.empty() || !absl::StrContains(spelled, name);
  }
  return std::make_shared<const std::vector<bool>>(std::move(forbidden));
}

}  // namespace

void LlamaSamplerDeleter::operator()(llama_sampler* sampler) const noexcept {
  llama_sampler_free(sampler);
}

GrammarMatcher::GrammarMatcher(LlamaSamplerPtr grammar, const llama_vocab* vocab,
                               std::shared_ptr<const std::vector<bool>> forbidden)
    : grammar_(std::move(grammar)), vocab_(vocab), forbidden_(std::move(forbidden)) {}

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
  for (TokenLogit& candidate : candidates) {
    const bool known = candidate.token < forbidden_->size();
    if (!known || (*forbidden_)[candidate.token]) candidate.logit = kNever;
  }
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
                                                   const std::string& gbnf,
                                                   absl::string_view spelled) {
  try {
    LlamaSamplerPtr start(llama_sampler_init_grammar(vocab, gbnf.c_str(), "root"));
    if (start != nullptr) return LlamaGrammar(std::move(start), vocab, Forbidden(vocab, spelled));
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(std::string("the grammar cannot be made: ") + error.what());
  }
  return absl::InvalidArgumentError("the grammar cannot be made: it has too many repetitions");
}

std::unique_ptr<GrammarMatcher> LlamaGrammar::NewMatcher() const {
  try {
    LlamaSamplerPtr copy(llama_sampler_clone(start_.get()));
    if (copy == nullptr) return nullptr;
    return std::make_unique<GrammarMatcher>(std::move(copy), vocab_, forbidden_);
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace superfluid
