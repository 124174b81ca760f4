#include "engine/sampling/prompt_lookup.h"

namespace superfluid {

std::vector<Token> PromptLookupDrafts(absl::Span<const Token> history, size_t n, size_t drafts,
                                      size_t look_back) {
  if (history.size() <= n) return {};
  const absl::Span<const Token> last = history.last(n);
  const size_t oldest = history.size() > look_back ? history.size() - look_back : 0;
  for (size_t start = history.size() - n; start-- > oldest;) {
    if (history.subspan(start, n) != last) continue;
    const auto found = history.subspan(start + n, drafts);
    return {found.begin(), found.end()};
  }
  return {};
}

}  // namespace superfluid
