#ifndef SUPERFLUID_ENGINE_LLAMA_GBNF_WRITER_H_
#define SUPERFLUID_ENGINE_LLAMA_GBNF_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/sampling/json_schema.h"

namespace superfluid {

// Writes schemas as rules of one grammar in the library's notation. Between values there may be a
// blank, or a line break or two and up to 20 blanks. Rules refer to each other in circles only
// behind a character of the text, and alternatives are one level deep: the library's own checks
// cost as much as the rules are long.
//
// Threads: one at a time.
class GbnfWriter {
 public:
  // The rules of all kinds of values come first.
  GbnfWriter();

  // Adds the rules of a schema, their names beginning with `prefix`; returns the name of its
  // values' rule. REQUIRES: no prefix starts another.
  std::string AddSchema(const JsonSchema& schema, absl::string_view prefix);
  void AddRule(absl::string_view name, absl::string_view expression);

  // InvalidArgument: more rules than the library can be burdened with, or a count that is larger
  // than it can do (2000).
  absl::Status Check() const;
  // The bytes of the rules, and those that the library makes of repetitions.
  size_t size() const { return rules_.size() + repeated_; }
  std::string Take() { return std::move(rules_); }

 private:
  // The schema that is being added, and what of it is to be written yet.
  struct Task {
    const JsonSchema& schema;
    absl::string_view prefix;
    std::vector<bool> known;
    std::vector<size_t> unwritten;
  };

  std::string NameOf(Task& task, size_t node);
  void WriteNode(Task& task, size_t index);
  void WriteAlternatives(Task& task, const SchemaNode& node, const std::string& name);
  void WriteObject(Task& task, const SchemaNode& node, const std::string& name);
  void WriteMap(Task& task, const SchemaNode& node, const std::string& name);
  void WriteArray(Task& task, const SchemaNode& node, const std::string& name);
  void WriteTuple(Task& task, const SchemaNode& node, const std::string& name);
  std::string Repeat(absl::string_view rule, uint64_t min, uint64_t max);

  std::string rules_;
  size_t repeated_ = 0;
  bool count_too_large_ = false;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_GBNF_WRITER_H_
