#ifndef SUPERFLUID_TESTS_CONFORMANCE_CONTRACT_H_
#define SUPERFLUID_TESTS_CONFORMANCE_CONTRACT_H_

#include <map>
#include <string>
#include <string_view>

namespace superfluid::conformance {

// The ids of CONTRACT.md and their sentences, each as one line.
using Sentences = std::map<std::string, std::string, std::less<>>;

// Of the document that this program was built with.
const Sentences& Contract();

// Of a document: list items that start with an id in brackets, up to the next item, heading, table
// or empty line.
Sentences ParseContract(std::string_view document);

// The ids that no check can cover, and why: lines "ID  reason"; '#' starts a comment.
Sentences ParseNotVisible(std::string_view text);
const Sentences& NotVisible();

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_CONTRACT_H_
