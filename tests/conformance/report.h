#ifndef SUPERFLUID_TESTS_CONFORMANCE_REPORT_H_
#define SUPERFLUID_TESTS_CONFORMANCE_REPORT_H_

#include <set>
#include <string>
#include <vector>

#include "tests/conformance/runner.h"

namespace superfluid::conformance {

// One line; of a failure also what was seen and the sentences of the contract.
std::string TextOf(const Result& result);

// Counts.
std::string SummaryOf(const std::vector<Result>& results);

// A JUnit XML document: a testcase a check, its ids and the calls that it needs as properties;
// `calls` are those that the engine lists, a property of the suite.
std::string JUnitOf(const std::vector<Result>& results, const std::string& suite,
                    const std::set<std::string>& calls);

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_REPORT_H_
