#include "protocol/codec/wire_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "protocol/codec/wire_reader.h"
#include "protocol/frames/little_endian.h"
#include "protocol/messages/status.h"
#include "protocol/messages/text.h"

namespace superfluid::linkw {
namespace {

// More than the schema, which has no recursion, can reach.
constexpr size_t kMaxDepth = 16;

struct PathElement {
  const FieldRules* field = nullptr;
  uint32_t element = 0;  // of a repeated field
};

// A value as the wire has it.
struct WireValue {
  WireType type = WireType::kVarint;
  uint64_t number = 0;     // of a varint
  std::string_view bytes;  // of everything else
};

std::optional<WireValue> ReadValue(WireReader& reader, WireType type) {
  WireValue value{type, 0, {}};
  std::optional<std::string_view> bytes;
  switch (type) {
    case WireType::kVarint: {
      const std::optional<uint64_t> number = reader.Varint();
      if (!number.has_value()) return std::nullopt;
      value.number = *number;
      return value;
    }
    case WireType::kFixed32:
      bytes = reader.Fixed(4);
      break;
    case WireType::kFixed64:
      bytes = reader.Fixed(8);
      break;
    case WireType::kDelimited:
      bytes = reader.Delimited();
      break;
  }
  if (!bytes.has_value()) return std::nullopt;
  value.bytes = *bytes;
  return value;
}

WireType WireTypeOf(WireKind kind) {
  switch (kind) {
    case WireKind::kVarint:
      return WireType::kVarint;
    case WireKind::kFixed32:
      return WireType::kFixed32;
    case WireKind::kFixed64:
      return WireType::kFixed64;
    case WireKind::kBytes:
    case WireKind::kMessage:
      break;
  }
  return WireType::kDelimited;
}

bool IsFinite(std::string_view float_bytes) {
  return std::isfinite(std::bit_cast<float>(LoadLittleEndian<uint32_t>(float_bytes.data())));
}

class Scan {
 public:
  explicit Scan(const MessageRules& root) : root_(root) {}

  absl::Status Message(const MessageRules& rules, std::string_view bytes);

 private:
  using Counts = std::array<uint32_t, kMaxFieldNumber + 1>;

  absl::Status Field(const FieldRules& field, const WireValue& value, uint32_t& count);
  absl::Status Unknown();
  absl::Status Number(const FieldRules& field, uint64_t value);
  absl::Status Fixed(const FieldRules& field, std::string_view bytes);
  absl::Status Text(const FieldRules& field, std::string_view bytes);
  absl::Status Packed(const FieldRules& field, std::string_view bytes, uint32_t& count);
  absl::Status Submessage(const FieldRules& field, std::string_view bytes, uint32_t element);
  absl::Status Count(const FieldRules& field, uint64_t more, uint32_t& count);
  absl::Status Required(const MessageRules& rules, uint64_t seen);

  absl::Status Malformed(const FieldRules* field, std::string_view what) const {
    return Error(Status::kProtocolError, field, what);
  }
  absl::Status Broken(const FieldRules& field, std::string_view what) const {
    return Error(Status::kInvalidArgument, &field, what);
  }
  absl::Status Error(Status status, const FieldRules* field, std::string_view what) const;

  const MessageRules& root_;
  std::array<PathElement, kMaxDepth> path_;
  size_t depth_ = 0;
  uint32_t submessages_ = 0;
  uint32_t unknown_fields_ = 0;
};

absl::Status Scan::Message(const MessageRules& rules, std::string_view bytes) {
  Counts counts{};
  uint64_t seen = 0;
  WireReader reader(bytes);
  while (!reader.done()) {
    const std::optional<WireTag> tag = reader.Tag();
    if (!tag.has_value()) return Malformed(nullptr, "not a field");
    const FieldRules* field = rules.Find(tag->number);
    const std::optional<WireValue> value = ReadValue(reader, tag->type);
    if (!value.has_value()) return Malformed(field, "ends too early");
    absl::Status status = field == nullptr ? Unknown() : Field(*field, *value, counts[tag->number]);
    if (!status.ok()) return status;
    if (field != nullptr) seen |= uint64_t{1} << tag->number;
  }
  return Required(rules, seen);
}

absl::Status Scan::Field(const FieldRules& field, const WireValue& value, uint32_t& count) {
  const WireType expected = WireTypeOf(field.kind);
  if (value.type != expected) {
    const bool packed = field.repeated && value.type == WireType::kDelimited;
    return packed ? Packed(field, value.bytes, count) : Malformed(&field, "of another wire type");
  }
  absl::Status status = Count(field, 1, count);
  if (!status.ok()) return status;
  switch (field.kind) {
    case WireKind::kVarint:
      return Number(field, value.number);
    case WireKind::kFixed32:
    case WireKind::kFixed64:
      return Fixed(field, value.bytes);
    case WireKind::kBytes:
      return Text(field, value.bytes);
    case WireKind::kMessage:
      break;
  }
  return Submessage(field, value.bytes, count - 1);
}

// Protobuf keeps what it does not know.
absl::Status Scan::Unknown() {
  if (++unknown_fields_ <= kMaxUnknownFields) return absl::OkStatus();
  return Error(Status::kInvalidArgument, nullptr, "too many unknown fields");
}

absl::Status Scan::Number(const FieldRules& field, uint64_t value) {
  if (value > field.max_value) return Broken(field, "does not fit into 32 bits");
  if (field.enum_values.empty() ||
      std::binary_search(field.enum_values.begin(), field.enum_values.end(), value)) {
    return absl::OkStatus();
  }
  return Broken(field, absl::StrCat("unknown value ", static_cast<int64_t>(value)));
}

absl::Status Scan::Fixed(const FieldRules& field, std::string_view bytes) {
  if (field.finite && !IsFinite(bytes)) return Broken(field, "not a finite number");
  return absl::OkStatus();
}

absl::Status Scan::Text(const FieldRules& field, std::string_view bytes) {
  if (bytes.size() > field.max_bytes || bytes.size() < field.min_bytes) {
    return Broken(field, absl::StrCat(bytes.size(), " bytes instead of ",
                                      field.min_bytes > 0 ? "" : "at most ", field.max_bytes));
  }
  if (field.no_nul && bytes.find('\0') != std::string_view::npos) {
    return Broken(field, "has a NUL byte inside");
  }
  if (field.utf8 && !IsUtf8(bytes)) return Broken(field, "not UTF-8");
  return absl::OkStatus();
}

absl::Status Scan::Packed(const FieldRules& field, std::string_view bytes, uint32_t& count) {
  if (field.kind != WireKind::kVarint) {
    const size_t size = field.kind == WireKind::kFixed32 ? 4 : 8;
    if (bytes.size() % size != 0) return Malformed(&field, "ends inside an element");
    absl::Status status = Count(field, bytes.size() / size, count);
    for (size_t at = 0; status.ok() && field.finite && at < bytes.size(); at += size) {
      status = Fixed(field, bytes.substr(at, size));
    }
    return status;
  }
  for (WireReader reader(bytes); !reader.done();) {
    const std::optional<uint64_t> value = reader.Varint();
    if (!value.has_value()) return Malformed(&field, "ends inside an element");
    absl::Status status = Count(field, 1, count);
    if (status.ok()) status = Number(field, *value);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Scan::Submessage(const FieldRules& field, std::string_view bytes, uint32_t element) {
  if (++submessages_ > root_.max_submessages) {
    return Broken(field, absl::StrCat("more than ", root_.max_submessages, " parts in all"));
  }
  if (depth_ == kMaxDepth) return Malformed(&field, "too deep");
  path_[depth_++] = {&field, element};
  absl::Status status = Message(*field.message, bytes);
  --depth_;
  return status;
}

absl::Status Scan::Count(const FieldRules& field, uint64_t more, uint32_t& count) {
  if (more <= field.max_count - count) {
    count += static_cast<uint32_t>(more);
    return absl::OkStatus();
  }
  return Broken(field, field.repeated ? absl::StrCat("more than ", field.max_count, " elements")
                                      : "occurs more than once");
}

absl::Status Scan::Required(const MessageRules& rules, uint64_t seen) {
  const uint64_t missing = rules.required & ~seen;
  if (missing == 0) return absl::OkStatus();
  return Broken(*rules.Find(static_cast<uint32_t>(std::countr_zero(missing))), "missing");
}

absl::Status Scan::Error(Status status, const FieldRules* field, std::string_view what) const {
  std::string text = root_.name;
  for (size_t i = 0; i < depth_; ++i) {
    absl::StrAppend(&text, ".", path_[i].field->name);
    if (path_[i].field->repeated) absl::StrAppend(&text, "[", path_[i].element, "]");
  }
  if (field != nullptr) absl::StrAppend(&text, ".", field->name);
  absl::StrAppend(&text, ": ", AbslView(what));
  return MakeStatus(status, text);
}

}  // namespace

absl::Status ScanPayload(const MessageRules& rules, std::string_view payload) {
  return Scan(rules).Message(rules, payload);
}

}  // namespace superfluid::linkw
