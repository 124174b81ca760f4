#ifndef SUPERFLUID_TESTS_CONFORMANCE_CONTRACT_TEXT_H_
#define SUPERFLUID_TESTS_CONFORMANCE_CONTRACT_TEXT_H_

#include <string_view>

namespace superfluid::conformance {

// protocol/CONTRACT.md and not_visible.txt as they were when this program was built; generated.
extern const std::string_view kContractText;
extern const std::string_view kNotVisibleText;

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_CONTRACT_TEXT_H_
