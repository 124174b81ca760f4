#ifndef SUPERFLUID_ENGINE_CONSTRAIN_COMPILE_BUDGET_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_COMPILE_BUDGET_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/call_control.h"

namespace superfluid {

// What compiling one grammar may cost, and whether it is to go on.
//
// Compiling is bounded by units of work (a state, an edge, a comparison), not by time, so that a
// schema is built or refused alike on every machine. Every loop whose length an author of a schema
// can choose spends a unit a turn. Threads: one. Lifetime: within the call; the control outlives
// it.
//
// Invariants:
//  1. The first failure stays; after it Spend and Hold return false, and loops end.
//  2. The call's token is looked at, and a sign of life is given, at least every kUnitsALook units.
class CompileBudget {
 public:
  // About a quarter of a second on the machine on which this was measured.
  static constexpr uint64_t kMaxUnits = uint64_t{24} << 20U;
  static constexpr size_t kMaxBytes = size_t{24} << 20U;  // of one compiled grammar
  static constexpr uint64_t kUnitsALook = uint64_t{1} << 14U;

  explicit CompileBudget(const CallControl& control, uint64_t max_units = kMaxUnits)
      : control_(control), max_units_(max_units) {}
  CompileBudget(const CompileBudget&) = delete;
  CompileBudget& operator=(const CompileBudget&) = delete;

  // Counts work. Returns false if there may be no more: status() says why.
  bool Spend(uint64_t units = 1);
  // Counts memory that the grammar keeps. Returns false like Spend.
  bool Hold(size_t bytes);

  // Ends compiling, unless it has ended.
  void Fail(absl::Status status);
  bool failed() const { return !status_.ok(); }
  const absl::Status& status() const { return status_; }

  uint64_t spent() const { return spent_; }
  size_t held() const { return held_; }

 private:
  const CallControl& control_;
  const uint64_t max_units_;
  uint64_t spent_ = 0;
  uint64_t next_look_ = kUnitsALook;
  size_t held_ = 0;
  absl::Status status_;
};

// Returns InvalidArgument with the text.
absl::Status BadSchema(absl::string_view problem);
// Returns Unimplemented for a keyword; `where`: "" or a text that follows its name.
absl::Status UnsupportedKeyword(absl::string_view keyword, absl::string_view where = "");

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_COMPILE_BUDGET_H_
