#include "engine/constrain/compile_budget.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {

bool CompileBudget::Spend(uint64_t units) {
  if (failed()) return false;
  spent_ += units;
  if (spent_ > max_units_) {
    Fail(BadSchema("too large a grammar: compiling it takes too long"));
  } else if (spent_ >= next_look_) {
    next_look_ = spent_ + kUnitsALook;  // Keeps invariant 2.
    if (absl::Status status = control_.GoOn(); !status.ok()) Fail(std::move(status));
  }
  return !failed();
}

bool CompileBudget::Hold(size_t bytes) {
  if (failed()) return false;
  held_ += bytes;
  if (held_ > kMaxBytes) Fail(BadSchema("too large a grammar: it takes too much memory"));
  return !failed();
}

void CompileBudget::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);  // Keeps invariant 1.
}

absl::Status BadSchema(absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("the grammar's schema: ", problem));
}

absl::Status UnsupportedKeyword(absl::string_view keyword, absl::string_view where) {
  return absl::UnimplementedError(
      absl::StrCat("the schema keyword '", keyword, "'", where, " is not supported"));
}

}  // namespace superfluid
