#include "engine/constrain/json_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/constrain/decimal.h"

namespace superfluid {
namespace {

using Kind = JsonValue::Kind;

// Receives the events of the parser. Each returns whether to go on.
class Builder {
 public:
  Builder(JsonDocument& document, CompileBudget& budget) : document_(document), budget_(budget) {}

  // The names are the parser's.
  // NOLINTBEGIN(readability-identifier-naming)
  bool null() { return Add(Kind::kNull) != nullptr; }
  bool boolean(bool value) {
    JsonValue* added = Add(Kind::kBoolean);
    if (added != nullptr) added->boolean = value;
    return added != nullptr;
  }
  bool number_integer(int64_t value) { return AddText(Kind::kNumber, absl::StrCat(value)); }
  bool number_unsigned(uint64_t value) { return AddText(Kind::kNumber, absl::StrCat(value)); }
  bool number_float(double /*value*/, const std::string& digits) {
    return AddText(Kind::kNumber, digits);
  }
  bool string(std::string& text) { return AddText(Kind::kString, std::move(text)); }
  bool binary(std::vector<uint8_t>& /*value*/) { return false; }
  bool start_object(size_t /*size*/) { return Open(Kind::kObject); }
  bool key(std::string& name) {
    open_.back()->members.push_back({std::move(name), nullptr});
    return budget_.Spend();
  }
  bool end_object() {
    JsonValue& object = *open_.back();
    open_.pop_back();
    return SortMembers(object);
  }
  bool start_array(size_t /*size*/) { return Open(Kind::kArray); }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) {
    budget_.Fail(BadSchema(absl::StrCat("no JSON, from byte ", position, " on")));
    return false;
  }
  // NOLINTEND(readability-identifier-naming)

  const JsonValue* root() const { return root_; }

 private:
  JsonValue* Add(Kind kind) {
    if (!budget_.Spend()) return nullptr;
    JsonValue* value = document_.Add(kind);
    if (open_.empty()) {
      root_ = value;
    } else if (open_.back()->kind == Kind::kArray) {
      open_.back()->items.push_back(value);
    } else {
      open_.back()->members.back().value = value;
    }
    return value;
  }

  bool AddText(Kind kind, std::string text) {
    JsonValue* value = Add(kind);
    if (value != nullptr) value->text = std::move(text);
    return value != nullptr;
  }

  bool Open(Kind kind) {
    if (open_.size() >= JsonDocument::kMaxDepth) {
      budget_.Fail(BadSchema(absl::StrCat("nested deeper than ", JsonDocument::kMaxDepth)));
      return false;
    }
    JsonValue* value = Add(kind);
    if (value != nullptr) open_.push_back(value);
    return value != nullptr;
  }

  bool SortMembers(JsonValue& object) {
    const auto& members = object.members;
    auto& order = object.by_name;
    order.resize(members.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return members[a].name < members[b].name; });
    for (size_t i = 1; i < order.size(); ++i) {
      if (members[order[i - 1]].name != members[order[i]].name) continue;
      budget_.Fail(BadSchema(absl::StrCat("the name ", QuotedJson(members[order[i]].name),
                                          " occurs twice in an object")));
    }
    return budget_.Spend(members.size());
  }

  JsonDocument& document_;
  CompileBudget& budget_;
  const JsonValue* root_ = nullptr;
  std::vector<JsonValue*> open_;
};

// Appends a value. `canonical`: see CanonicalJson. Recurses as deep as a document may be nested.
template <bool canonical>
void Append(const JsonValue& value, std::string& out) {
  const char* separator = "";
  switch (value.kind) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBoolean:
      out += value.boolean ? "true" : "false";
      return;
    case Kind::kNumber: {
      const std::optional<Decimal> number = canonical ? ParseDecimal(value.text) : std::nullopt;
      out += number.has_value() ? DecimalText(*number) : value.text;
      return;
    }
    case Kind::kString:
      out += QuotedJson(value.text);
      return;
    case Kind::kArray:
      out += '[';
      for (const JsonValue* item : value.items) {
        out += std::exchange(separator, ",");
        Append<canonical>(*item, out);
      }
      out += ']';
      return;
    case Kind::kObject:
      out += '{';
      for (size_t i = 0; i < value.members.size(); ++i) {
        const JsonValue::Member& member = value.members[canonical ? value.by_name[i] : i];
        out += std::exchange(separator, ",");
        absl::StrAppend(&out, QuotedJson(member.name), ":");
        Append<canonical>(*member.value, out);
      }
      out += '}';
      return;
  }
}

}  // namespace

const JsonValue* JsonValue::Find(absl::string_view name) const {
  const auto found = std::lower_bound(
      by_name.begin(), by_name.end(), name,
      [this](uint32_t index, absl::string_view wanted) { return members[index].name < wanted; });
  if (found == by_name.end() || members[*found].name != name) return nullptr;
  return members[*found].value;
}

const JsonValue* JsonDocument::Read(absl::string_view text, CompileBudget& budget) {
  if (text.size() > kMaxBytes) {
    budget.Fail(BadSchema(absl::StrCat("more than ", kMaxBytes, " bytes")));
    return nullptr;
  }
  Builder builder(*this, budget);
  const bool read = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (!read) budget.Fail(BadSchema("no JSON"));
  return budget.failed() ? nullptr : builder.root();
}

JsonValue* JsonDocument::Add(JsonValue::Kind kind) {
  values_.emplace_back();
  values_.back().kind = kind;
  values_.back().order = static_cast<uint32_t>(values_.size());
  return &values_.back();
}

std::string QuotedJson(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr absl::string_view kNamed = "\"\\\b\f\n\r\t";
    const size_t named = kNamed.find(c);
    if (named != absl::string_view::npos) {
      absl::StrAppend(&out, "\\", absl::string_view("\"\\bfnrt").substr(named, 1));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string CompactJson(const JsonValue& value) {
  std::string out;
  Append<false>(value, out);
  return out;
}

std::string CanonicalJson(const JsonValue& value) {
  std::string out;
  Append<true>(value, out);
  return out;
}

}  // namespace superfluid
