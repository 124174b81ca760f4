#include "engine/llama/state_checks.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/cache/token_provenance.h"

namespace superfluid {
namespace {

Digest DigestOfTokens(uint64_t adapter, absl::Span<const Token> tokens, const MediaMap& media) {
  TokenProvenance provenance(adapter);
  for (size_t i = 0; i < tokens.size(); ++i) provenance.Add(tokens[i], MediaAt(media, i));
  return provenance.digest();
}

// Whether the part of `all` within the range is `some`.
bool SameMedia(const MediaMap& all, const MediaMap& some, TokenRange range) {
  return std::equal(all.lower_bound(range.start), all.lower_bound(range.end), some.begin(),
                    some.end());
}

}  // namespace

absl::Status CheckStateRange(const LlamaSequence& sequence, TokenRange range) {
  if (range.start > range.end || range.end > sequence.length()) {
    return absl::InvalidArgumentError(absl::StrCat("the range ", range.start, " to ", range.end,
                                                   " is not within the ", sequence.length(),
                                                   " tokens of the sequence"));
  }
  if (!sequence.media().Splits(range.start) && !sequence.media().Splits(range.end)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("the range ", range.start, " to ", range.end,
                                                 " cuts an image that is computed at once"));
}

Digest ProvenanceOf(const LlamaSequence& sequence, uint64_t end) {
  return DigestOfTokens(sequence.adapter().fingerprint, sequence.tokens().first(end),
                        sequence.media().marks());
}

absl::Status CheckRestore(const LlamaSequence& sequence, const StateImport& what,
                          uint64_t context) {
  if (what.range.start != 0 || what.range.end > context) {
    return absl::InvalidArgumentError(
        absl::StrCat("what is restored is a range from 0 to at most ", context));
  }
  if (AdapterOfProvenance(what.provenance) != sequence.adapter().fingerprint) {
    return absl::FailedPreconditionError("the state was computed under another adapter");
  }
  return absl::OkStatus();
}

absl::Status CheckPromote(const LlamaSequence& sequence, const StateImport& what) {
  if (!sequence.IsMissing()) {
    return absl::FailedPreconditionError("nothing of the sequence's state is demoted");
  }
  if (!sequence.HasMissing(what.range)) {
    return absl::InvalidArgumentError(absl::StrCat("what was demoted is not the range ",
                                                   what.range.start, " to ", what.range.end));
  }
  if (ProvenanceOf(sequence, what.range.end) != what.provenance) {
    return absl::FailedPreconditionError("this is not the state of what was demoted");
  }
  return absl::OkStatus();
}

absl::Status CheckHead(const LlamaSequence& sequence, const StateImport& what,
                       const StateHead& head) {
  if (what.replace) {
    const uint64_t adapter = AdapterOfProvenance(what.provenance);
    if (DigestOfTokens(adapter, head.tokens, head.media) == what.provenance) {
      return absl::OkStatus();
    }
  } else {
    bool same = sequence.tokens().subspan(what.range.start, head.tokens.size()) ==
                    absl::MakeConstSpan(head.tokens) &&
                SameMedia(sequence.media().marks(), head.media, what.range);
    for (size_t i = 0; same && i < head.drawn.size(); ++i) {
      same = sequence.drawn(what.range.start + i) == head.drawn[i];
    }
    if (same) return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the tokens or media are not those of this provenance");
}

}  // namespace superfluid
