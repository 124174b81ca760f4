#include "engine/llama/gbnf_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/llama/gbnf_text.h"

namespace superfluid {
namespace {

using Kind = SchemaNode::Kind;

constexpr size_t kMaxSize = size_t{512} << 10U;
constexpr uint64_t kMaxRepetitions = 2000;  // the library's own limit
constexpr size_t kRepetitionSize = 8;       // in bytes of rules that cost as much
constexpr int64_t kMostDigits16 = 9999999999999999;

// No characters of a string are surrogates, as such or escaped: alone they are no text.
constexpr char kCommonRules[] = R"(space ::= | " " | "\n"{1,2} [ \t]{0,20}
hex ::= [0-9a-fA-F]
char ::= [\x20-\x21\x23-\x5B\x5D-\x7E\u0080-\uD7FF\uE000-\U0010FFFF] | "\\" escape
escape ::= ["\\/bfnrt] | "u" ([0-9a-cA-CefEF] hex hex hex | [dD] [0-7] hex hex)
string ::= "\"" char* "\""
natural ::= "0" | [1-9] [0-9]{0,15}
integer ::= "-"? natural
number ::= "-"? natural ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?
value ::= object | array | string | number | "true" | "false" | "null"
member ::= string ":" space value
object ::= "{" space (member ("," space member)* space)? "}"
array ::= "[" space (value ("," space value)* space)? "]"
day31 ::= ("0" [13578] | "1" [02]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])
day30 ::= ("0" [469] | "11") "-" ("0" [1-9] | [12] [0-9] | "30")
day28 ::= "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8])
date ::= [1-9] [0-9]{3} "-" (day31 | day30 | day28)
hour ::= [01] [0-9] | "2" [0-3]
time ::= hour ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{3})? ("Z" | [-+] hour ":" [0-5] [0-9])
date-text ::= "\"" date "\""
time-text ::= "\"" time "\""
date-time-text ::= "\"" date "T" time "\""
uuid-text ::= "\"" hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12} "\""
)";

// The integers from the one bound to the other; where there is none, those of 16 digits.
std::string BoundedInteger(const SchemaNode& node) {
  int64_t least = node.least;
  int64_t most = node.most;
  if (most == INT64_MAX && least <= kMostDigits16) most = kMostDigits16;
  if (least == INT64_MIN && most >= -kMostDigits16) least = -kMostDigits16;
  return GbnfIntegers(least, most);
}

// The common rule that has the node's values; "": none has.
std::string CommonRule(const SchemaNode& node) {
  switch (node.kind) {
    case Kind::kAny:
      return "value";
    case Kind::kNumber:
      return "number";
    case Kind::kInteger:
      return node.least == INT64_MIN && node.most == INT64_MAX ? "integer" : "";
    case Kind::kString:
      if (!node.format.empty()) return node.format + "-text";
      return node.min == 0 && node.max == UINT64_MAX ? "string" : "";
    default:
      return "";
  }
}

// The name of a rule of an object, for one of its properties.
std::string Joined(const std::string& name, const char* part, size_t index) {
  return absl::StrCat(name, "-", part, index);
}

}  // namespace

GbnfWriter::GbnfWriter() : rules_(kCommonRules) {}

absl::Status GbnfWriter::Check() const {
  if (count_too_large_) {
    return BadSchema(absl::StrCat("a count above ", kMaxRepetitions));
  }
  if (size() > kMaxSize) return BadSchema("it makes too large a grammar");
  return absl::OkStatus();
}

void GbnfWriter::AddRule(absl::string_view name, absl::string_view expression) {
  absl::StrAppend(&rules_, name, " ::= ", expression, "\n");
}

std::string GbnfWriter::AddSchema(const JsonSchema& schema, absl::string_view prefix) {
  Task task{schema, prefix, std::vector<bool>(schema.nodes.size()), {}};
  std::string root = NameOf(task, schema.root);
  while (!task.unwritten.empty() && Check().ok()) {
    const size_t node = task.unwritten.back();
    task.unwritten.pop_back();
    WriteNode(task, node);
  }
  return root;
}

std::string GbnfWriter::NameOf(Task& task, size_t node) {
  std::string common = CommonRule(task.schema.nodes[node]);
  if (!common.empty()) return common;
  if (!task.known[node]) task.unwritten.push_back(node);
  task.known[node] = true;
  return absl::StrCat(task.prefix, node);
}

// The library makes a rule of each repetition that may be, and a copy of each that must.
std::string GbnfWriter::Repeat(absl::string_view rule, uint64_t min, uint64_t max) {
  if (max == 0) return "";
  const bool open = max == UINT64_MAX;
  if (std::max(min, open ? 0 : max) > kMaxRepetitions) {
    count_too_large_ = true;
    return "";
  }
  repeated_ += kRepetitionSize * (open ? min + 1 : max);
  return absl::StrCat(rule, "{", min, ",", open ? "" : absl::StrCat(max), "}");
}

void GbnfWriter::WriteNode(Task& task, size_t index) {
  const SchemaNode& node = task.schema.nodes[index];
  const std::string name = absl::StrCat(task.prefix, index);
  switch (node.kind) {
    case Kind::kLiterals:
      return AddRule(name, GbnfOneOf(node.texts).text);
    case Kind::kInteger:
      return AddRule(name, BoundedInteger(node));
    case Kind::kString:
      return AddRule(name,
                     absl::StrCat(R"("\"" )", Repeat("char", node.min, node.max), R"( "\"")"));
    case Kind::kArray:
      return WriteArray(task, node, name);
    case Kind::kTuple:
      return WriteTuple(task, node, name);
    case Kind::kObject:
      return WriteObject(task, node, name);
    case Kind::kMap:
      return WriteMap(task, node, name);
    default:
      return WriteAlternatives(task, node, name);
  }
}

void GbnfWriter::WriteAlternatives(Task& task, const SchemaNode& node, const std::string& name) {
  std::string expression;
  for (const size_t child : node.children) {
    absl::StrAppend(&expression, expression.empty() ? "" : " | ", NameOf(task, child));
  }
  AddRule(name, expression);
}

// Two rules a property: NAME-member<i> is the rest of the members if one must come that is the
// i-th or later, its opening quote being read; NAME-rest<i> if one may, after another.
void GbnfWriter::WriteObject(Task& task, const SchemaNode& node, const std::string& name) {
  size_t required = node.children.size();  // the properties up to the last one that must come
  while (required > 0 && !node.required[required - 1]) --required;
  for (size_t i = 0; i < node.children.size(); ++i) {
    const bool last = i + 1 == node.children.size();
    const std::string key = GbnfLiteral(absl::StrCat(node.texts[i].substr(1), ":"));
    std::string member = absl::StrCat(key, " space ", NameOf(task, node.children[i]));
    if (!last) absl::StrAppend(&member, " ", Joined(name, "rest", i + 1));
    if (!node.required[i] && !last) absl::StrAppend(&member, " | ", Joined(name, "member", i + 1));
    AddRule(Joined(name, "member", i), member);
    if (i == 0) continue;
    const std::string rest = absl::StrCat(R"("," space "\"" )", Joined(name, "member", i));
    AddRule(Joined(name, "rest", i), i < required ? rest : absl::StrCat("| ", rest));
  }
  if (node.children.empty()) return AddRule(name, R"("{" space "}")");
  const std::string members = absl::StrCat(R"("\"" )", Joined(name, "member", 0), " space");
  AddRule(name,
          absl::StrCat(R"("{" space )", required > 0 ? members : "(" + members + ")?", R"( "}")"));
}

void GbnfWriter::WriteMap(Task& task, const SchemaNode& node, const std::string& name) {
  const std::string member = name + "-member";
  AddRule(member, absl::StrCat(R"(string ":" space )", NameOf(task, node.children[0])));
  AddRule(name,
          absl::StrCat(R"("{" space ()", member, R"( ("," space )", member, R"()* space)? "}")"));
}

void GbnfWriter::WriteArray(Task& task, const SchemaNode& node, const std::string& name) {
  if (node.max == 0) return AddRule(name, R"("[" space "]")");
  const std::string item = NameOf(task, node.children[0]);
  AddRule(name + "-next", absl::StrCat(R"("," space )", item));
  const uint64_t max = node.max == UINT64_MAX ? node.max : node.max - 1;
  const uint64_t min = node.min == 0 ? 0 : node.min - 1;
  const std::string items = absl::StrCat(item, " ", Repeat(name + "-next", min, max), " space");
  // A rule of its own: the library counts what is repeated inside of what may be left out.
  AddRule(name + "-items", items);
  AddRule(name,
          absl::StrCat(R"("[" space )", name, node.min > 0 ? "-items" : "-items?", R"( "]")"));
}

void GbnfWriter::WriteTuple(Task& task, const SchemaNode& node, const std::string& name) {
  std::string items;
  for (const size_t child : node.children) {
    absl::StrAppend(&items, items.empty() ? "" : R"( "," space )", NameOf(task, child));
  }
  AddRule(name, absl::StrCat(R"("[" space )", items, items.empty() ? "" : " space", R"( "]")"));
}

}  // namespace superfluid
