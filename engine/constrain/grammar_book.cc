#include "engine/constrain/grammar_book.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/constrain/json_grammar.h"

namespace superfluid {
namespace {

absl::Status NoGrammar(GrammarHandle handle) {
  return absl::NotFoundError(absl::StrCat("no grammar ", static_cast<uint64_t>(handle)));
}

}  // namespace

absl::StatusOr<GrammarHandle> GrammarBook::AddSchema(absl::string_view schema,
                                                     const CallControl& control) {
  return Add('s', schema, "", &CompileJsonSchema, control);
}

absl::StatusOr<GrammarHandle> GrammarBook::AddTags(absl::string_view tags,
                                                   const CallControl& control) {
  return Add('t', tags, tags, &CompileTags, control);
}

absl::StatusOr<GrammarHandle> GrammarBook::Add(char kind, absl::string_view text,
                                               absl::string_view spelled, Compiler compile,
                                               const CallControl& control) {
  if (grammars_.size() >= kMaxGrammars) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", kMaxGrammars, " grammars"));
  }
  std::string key = absl::StrCat(std::string(1, kind), text);
  const auto known = by_text_.find(key);
  std::shared_ptr<TokenGrammar> grammar = known == by_text_.end() ? nullptr : known->second.lock();
  if (grammar == nullptr) {
    absl::StatusOr<std::shared_ptr<const Grammar>> compiled = compile(text, control);
    if (!compiled.ok()) return compiled.status();
    size_t bytes = (*compiled)->bytes;
    std::set<const TokenGrammar*> counted;
    for (const auto& [handle, other] : grammars_) {
      if (counted.insert(other.get()).second) bytes += other->grammar()->bytes;
    }
    if (bytes > kMaxGrammarBytes) {
      return absl::ResourceExhaustedError("the grammars take too much memory");
    }
    if (!vocabulary_.has_value()) vocabulary_.emplace(tokens_());
    grammar = std::make_shared<TokenGrammar>(*std::move(compiled), *vocabulary_, budget_, spelled);
    by_text_[std::move(key)] = grammar;
  }
  const auto handle = handles_.Next<GrammarHandle>();
  grammars_.emplace(handle, std::move(grammar));
  return handle;
}

absl::Status GrammarBook::Free(GrammarHandle handle) {
  if (grammars_.erase(handle) == 0) return NoGrammar(handle);
  for (auto at = by_text_.begin(); at != by_text_.end();) {
    at = at->second.expired() ? by_text_.erase(at) : std::next(at);
  }
  return absl::OkStatus();
}

void GrammarBook::Clear() {
  grammars_.clear();
  by_text_.clear();
}

absl::StatusOr<std::shared_ptr<TokenGrammar>> GrammarBook::Find(GrammarHandle handle) const {
  if (handle == GrammarHandle{}) return nullptr;
  const auto found = grammars_.find(handle);
  if (found == grammars_.end()) return NoGrammar(handle);
  return found->second;
}

void GrammarBook::BeginTick() {
  budget_.BeginTick();
  size_t bytes = 0;
  for (const auto& [text, grammar] : by_text_) {
    if (const auto alive = grammar.lock()) bytes += alive->masks().bytes();
  }
  if (bytes <= kMaxMaskBytes) return;
  for (const auto& [text, grammar] : by_text_) {
    if (const auto alive = grammar.lock()) alive->masks().Clear();
  }
}

size_t GrammarBook::bytes() const {
  size_t bytes = vocabulary_.has_value() ? vocabulary_->bytes() : 0;
  for (const auto& [text, grammar] : by_text_) {
    if (const auto alive = grammar.lock()) bytes += alive->bytes();
  }
  return bytes;
}

}  // namespace superfluid
