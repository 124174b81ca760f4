#ifndef SUPERFLUID_ENGINE_CONSTRAIN_JSON_DOCUMENT_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_JSON_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "engine/constrain/compile_budget.h"

namespace superfluid {

// A part of a JSON document, as its text has it: members in their order, numbers as their digits
// (a bound of 18446744073709551615 stays one). Immutable once the document is read.
struct JsonValue {
  enum class Kind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };
  struct Member {
    std::string name;
    const JsonValue* value = nullptr;
  };

  bool IsFalse() const { return kind == Kind::kBoolean && !boolean; }
  bool IsTrue() const { return kind == Kind::kBoolean && boolean; }
  bool IsObject() const { return kind == Kind::kObject; }
  bool IsArray() const { return kind == Kind::kArray; }
  bool IsString() const { return kind == Kind::kString; }
  bool IsNumber() const { return kind == Kind::kNumber; }

  // Returns the member of that name; null if there is none, or this is no object. Cost: O(log n).
  const JsonValue* Find(absl::string_view name) const;

  Kind kind = Kind::kNull;
  bool boolean = false;
  uint32_t order = 0;  // values of a document have different ones, in the order of their beginnings
  std::string text;    // of a string its characters, of a number its digits
  std::vector<const JsonValue*> items;
  std::vector<Member> members;
  std::vector<uint32_t> by_name;  // indices into `members`, sorted
};

// A JSON text, read. Cost: O(n log n) in its length, whatever is in it. Threads: one. Lifetime:
// owns its values.
class JsonDocument {
 public:
  static constexpr size_t kMaxBytes = size_t{1} << 20U;
  static constexpr size_t kMaxDepth = 128;

  // Reads a text. Returns null after a failure of the budget: InvalidArgument if it is longer than
  // kMaxBytes, nested deeper than kMaxDepth, no JSON, or has an object with a name twice.
  const JsonValue* Read(absl::string_view text, CompileBudget& budget);

  // Adds a value that is in no text.
  JsonValue* Add(JsonValue::Kind kind);

 private:
  std::deque<JsonValue> values_;
};

// Returns a text as a JSON string with its quotes; the one spelling that grammars use.
std::string QuotedJson(absl::string_view text);
// Returns a value without blanks, members in their order.
std::string CompactJson(const JsonValue& value);
// Returns a text that is equal for equal values: members sorted, numbers by their value.
std::string CanonicalJson(const JsonValue& value);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_JSON_DOCUMENT_H_
