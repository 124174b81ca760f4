// What constrains a text: the first byte says whether the rest is a JSON schema, tags or a regular
// expression. It is compiled within its budget or refused with a reason. What is compiled has no
// dead ends: wherever a text stands it goes on or may end, and a byte that is refused changes
// nothing.

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/call_control.h"
#include "engine/constrain/grammar.h"
#include "engine/constrain/json_grammar.h"
#include "engine/constrain/stacks.h"
#include "tests/fuzz/target.h"

namespace superfluid::fuzz {
namespace {

absl::StatusOr<std::shared_ptr<const Grammar>> Compile(char kind, std::string_view text) {
  const CallControl control;
  const absl::string_view source(text.data(), text.size());
  switch (static_cast<unsigned char>(kind) % 3) {
    case 0:
      return CompileJsonSchema(source, control);
    case 1:
      return CompileTags(source, control);
    default:
      return CompileExpression(source, control);
  }
}

constexpr int kSteps = 32;

// Reads one byte more of those that may come, looking from `from` on. False: none may.
bool ReadOne(Stacks& stacks, unsigned from) {
  const bool could_end = stacks.CanEnd();
  for (unsigned i = 0; i < 256; ++i) {
    const char byte = static_cast<char>(from + i);
    if (stacks.Read(absl::string_view(&byte, 1))) return true;
    Require(stacks.CanEnd() == could_end);
  }
  return false;
}

// One text of the grammar, chosen by the bytes of its source.
void Walk(const std::shared_ptr<const Grammar>& grammar, std::string_view choice) {
  Stacks stacks(grammar);
  for (int i = 0; i < kSteps; ++i) {
    const unsigned from =
        choice.empty() ? 0
                       : static_cast<unsigned char>(choice[static_cast<size_t>(i) % choice.size()]);
    if (!ReadOne(stacks, from)) return Require(stacks.CanEnd());
  }
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto grammar = Compile(bytes[0], bytes.substr(1));
  if (grammar.ok()) return Walk(*grammar, bytes);
  Require(!grammar.status().message().empty());
  Require(absl::IsInvalidArgument(grammar.status()) || absl::IsUnimplemented(grammar.status()));
}

}  // namespace superfluid::fuzz
