#ifndef SUPERFLUID_TESTS_ENGINE_ABI_GENERATION_CALLS_H_
#define SUPERFLUID_TESTS_ENGINE_ABI_GENERATION_CALLS_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "engine/generation.h"

namespace superfluid::testing {

struct NamedCall {
  const char* name;  // of the function in the C interface
  std::function<absl::Status(Generation&)> call;
};

// Every call of Generation but EndSession, with arguments that the host lets through if the handles
// are live. The last one frees the sequence.
std::vector<NamedCall> AllGenerationCalls(SequenceHandle sequence, GrammarHandle grammar,
                                          LogitBiasHandle bias, MediaHandle media);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_ABI_GENERATION_CALLS_H_
