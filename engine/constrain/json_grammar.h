#ifndef SUPERFLUID_ENGINE_CONSTRAIN_JSON_GRAMMAR_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_JSON_GRAMMAR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/call_control.h"
#include "engine/constrain/grammar.h"

namespace superfluid {

// Compile what constrains a text into its automaton: the one reading of JSON schema, of tags and of
// regular expressions for all engines.
//
// A JSON schema (2020-12). A keyword is allowed where it is enforced, and nowhere else:
//
//   any value    type (one or several), enum, const, true, false, nullable
//   combining    $ref ("#" and "#/..." of the document), anyOf, allOf, oneOf of cases that can be
//                shown to exclude each other (by type, const or enum, bounds of integers, a
//                required property of these kinds, a required name that the other one forbids);
//                other keywords may stand beside them
//   object       properties, required (other names, too), additionalProperties, maxProperties,
//                minProperties (up to the required ones, or where additionalProperties is false)
//   array        items, prefixItems (or a list of items), minItems, maxItems, uniqueItems (false)
//   string       minLength, maxLength (code points), pattern (regular_expression.h), format: date,
//                time, date-time, uuid, ipv4, email
//   number       minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf (an integer, or
//                0.1, 0.01, ...)
//   annotations  title, description, default, examples, deprecated, readOnly, writeOnly, $schema,
//                $comment, $defs, definitions, $id of the root
//
// A keyword of another type than the schema's has no meaning there, as JSON schema says; a schema
// without a type allows the other types. Several patterns, a pattern and lengths, and enum beside
// bounds or lengths are met together. What is taken is narrower than the schema, on purpose:
//
//   objects      named members in the schema's order (optional ones may be left out), each once;
//                others behind them, whose names have no \u and no \/; with maxProperties, a name
//                that comes again counts again
//   blanks       none in front of or behind the value; else between tokens one blank, or a line
//                break and up to 20 blanks or tabs
//   strings      no \u of surrogates (other planes come as UTF-8); under a pattern or format each
//                character in one spelling
//   numbers      see number_automaton.h
//   enum, const  in the compact spelling
//   format       date: the 29th of February never comes; email: plain ones
//   nesting      kMaxValueDepth; an ambiguous text stands on kMaxStacks stacks at most
//
// Tags (tag_spec.h): free text is of any bytes; the longest trigger that it ends with counts.
//
// Cost: bounded (compile_budget.h); a catalogue of 50 kB takes some milliseconds.
//
// Errors: InvalidArgument (no JSON, larger than JsonDocument::kMaxBytes, malformed, no value can
// match, a minimum above its maximum, too large a grammar); Unimplemented with the name of the
// keyword (an unknown one; a known one where it would not be enforced); Cancelled, by the control.
absl::StatusOr<std::shared_ptr<const Grammar>> CompileJsonSchema(absl::string_view schema,
                                                                 const CallControl& control);
absl::StatusOr<std::shared_ptr<const Grammar>> CompileTags(absl::string_view tags,
                                                           const CallControl& control);
// Of the texts that are wholly of a regular expression, written as UTF-8.
absl::StatusOr<std::shared_ptr<const Grammar>> CompileExpression(absl::string_view expression,
                                                                 const CallControl& control);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_JSON_GRAMMAR_H_
