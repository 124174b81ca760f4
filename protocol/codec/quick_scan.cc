#include "protocol/codec/quick_scan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "protocol/codec/wire_cursor.h"
#include "protocol/messages/text.h"

namespace superfluid::linkw {
namespace {

using Check = QuickTable::Check;
using Entry = QuickTable::Entry;

constexpr int kMaxDepth = 16;  // as the scan's

constexpr uint32_t TagOf(uint32_t number, WireType type) {
  return number << 3 | static_cast<uint32_t>(type);
}

// ---- Tables

struct CheckOfKind {
  WireType type;
  Check check;
  Check packed;  // the check of a list that comes as one field; kRefused: it does not
  uint8_t size;
};

CheckOfKind ChecksOf(const FieldRules& field) {
  switch (field.kind) {
    case WireKind::kVarint:
      if (!field.enum_values.empty())
        return {WireType::kVarint, Check::kEnum, Check::kPackedNumbers, 0};
      if (field.max_value == std::numeric_limits<uint64_t>::max()) {
        return {WireType::kVarint, Check::kNumber, Check::kPackedNumbers, 0};
      }
      return {WireType::kVarint, Check::kSmallNumber, Check::kPackedNumbers, 0};
    case WireKind::kFixed32:
      return {WireType::kFixed32, field.finite ? Check::kFloats : Check::kFixed,
              Check::kPackedFixed, 4};
    case WireKind::kFixed64:
      return {WireType::kFixed64, Check::kFixed, Check::kPackedFixed, 8};
    case WireKind::kBytes:
      return {WireType::kDelimited, Check::kText, Check::kRefused, 0};
    case WireKind::kMessage:
      break;
  }
  return {WireType::kDelimited, Check::kMessage, Check::kRefused, 0};
}

// Owns the tables of all types that were asked for, and of what those contain.
class Tables {
 public:
  const QuickTable& Get(const MessageRules& rules) {
    absl::MutexLock lock(&mutex_);
    return *Find(rules);
  }

 private:
  const QuickTable* Find(const MessageRules& rules) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::unique_ptr<QuickTable>& table = tables_[&rules];
    if (table == nullptr) {
      table = std::make_unique<QuickTable>();
      Fill(rules, *table);
    }
    return table.get();
  }

  void Fill(const MessageRules& rules, QuickTable& table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    table.required = rules.required;
    table.max_submessages = rules.max_submessages;
    table.entries = {Entry{}, Entry{.check = Check::kRefused}};
    uint8_t counters = 1;
    for (uint32_t number = 1; number <= kMaxFieldNumber; ++number) {
      const FieldRules* field = rules.Find(number);
      if (field == nullptr) continue;
      std::fill_n(table.by_tag.begin() + TagOf(number, WireType::kVarint), 8, uint8_t{1});
      if (field->repeated && counters == QuickTable::kCounters) continue;
      AddField(*field, number, field->repeated ? counters++ : uint8_t{0}, table);
    }
  }

  void AddField(const FieldRules& field, uint32_t number, uint8_t counter, QuickTable& table)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const CheckOfKind checks = ChecksOf(field);
    Entry entry{.check = checks.check,
                .number = static_cast<uint8_t>(number),
                .counter = counter,
                .size = checks.size,
                .rules = &field,
                .message = field.message == nullptr ? nullptr : Find(*field.message)};
    Add(entry, TagOf(number, checks.type), table);
    if (!field.repeated || checks.packed == Check::kRefused) return;
    entry.check = checks.packed;
    Add(entry, TagOf(number, WireType::kDelimited), table);
  }

  static void Add(const Entry& entry, uint32_t tag, QuickTable& table) {
    table.by_tag.at(tag) = static_cast<uint8_t>(table.entries.size());
    table.entries.push_back(entry);
  }

  absl::Mutex mutex_;
  std::map<const MessageRules*, std::unique_ptr<QuickTable>> tables_ ABSL_GUARDED_BY(mutex_);
};

// ---- The scan

bool NumberFits(const FieldRules& rules, uint64_t value) {
  return value <= rules.max_value &&
         (rules.enum_values.empty() ||
          std::binary_search(rules.enum_values.begin(), rules.enum_values.end(), value));
}

bool TextFits(const FieldRules& rules, std::string_view text) {
  return text.size() <= rules.max_bytes && text.size() >= rules.min_bytes &&
         !(rules.no_nul && text.find('\0') != std::string_view::npos) &&
         !(rules.utf8 && !IsUtf8(text));
}

bool AllFinite(const char* at, const char* end) {
  uint32_t bits = 0;
  while (at != end) {
    at = cursor::Fixed32(at, end, bits);
    if (!cursor::IsFiniteFloat(bits)) return false;
  }
  return true;
}

class Scan {
 public:
  explicit Scan(const QuickTable& root) : submessages_left_(root.max_submessages) {}

  bool Message(const QuickTable& table, const char* at, const char* end, int depth) {
    Counts counts{};
    uint64_t seen = 0;
    while (at != end) {
      uint32_t tag = 0;
      at = cursor::Tag(at, end, tag);
      if (at == nullptr) return false;
      const Entry& entry = table.entries[tag < QuickTable::kTags ? table.by_tag[tag] : 0];
      if (entry.check == Check::kRefused) return false;
      at = entry.check == Check::kUnknown ? Unknown(at, end, tag)
                                          : Known(entry, at, end, depth, counts, seen);
      if (at == nullptr) return false;
    }
    return (table.required & ~seen) == 0;
  }

 private:
  using Counts = std::array<uint32_t, QuickTable::kCounters>;

  const char* Unknown(const char* at, const char* end, uint32_t tag) {
    return ++unknown_fields_ <= kMaxUnknownFields ? cursor::Skip(at, end, tag) : nullptr;
  }

  // Looks at a field of the message. REQUIRES: neither kUnknown nor kRefused.
  const char* Known(const Entry& entry, const char* at, const char* end, int depth, Counts& counts,
                    uint64_t& seen) {
    const FieldRules& rules = *entry.rules;
    const uint64_t bit = uint64_t{1} << entry.number;
    const bool again = (seen & bit) != 0;
    seen |= bit;
    uint32_t& count = counts[entry.counter];
    if (entry.counter != 0 && entry.check < Check::kPackedNumbers && ++count > rules.max_count) {
      return nullptr;
    }
    uint64_t number = 0;
    const char* part_end = nullptr;
    switch (entry.check) {
      case Check::kNumber:
        return cursor::Varint(at, end, number);
      case Check::kSmallNumber:
      case Check::kEnum:
        at = cursor::Varint(at, end, number);
        return NumberFits(rules, number) ? at : nullptr;
      case Check::kFixed:
      case Check::kFloats:
        if (end - at < entry.size) return nullptr;
        if (entry.check == Check::kFloats && !AllFinite(at, at + entry.size)) return nullptr;
        return at + entry.size;
      default:
        break;
    }
    at = cursor::Length(at, end, part_end);
    if (at == nullptr) return nullptr;
    switch (entry.check) {
      case Check::kText:
        return TextFits(rules, cursor::Between(at, part_end)) ? part_end : nullptr;
      case Check::kMessage:
        if (!rules.repeated && again) return nullptr;
        if (submessages_left_ == 0 || depth == kMaxDepth) return nullptr;
        --submessages_left_;
        return Message(*entry.message, at, part_end, depth + 1) ? part_end : nullptr;
      case Check::kPackedNumbers:
        return PackedNumbers(rules, at, part_end, count);
      case Check::kPackedFixed:
        return PackedFixed(rules, at, part_end, entry.size, count) ? part_end : nullptr;
      default:
        return nullptr;
    }
  }

  static const char* PackedNumbers(const FieldRules& rules, const char* at, const char* end,
                                   uint32_t& count) {
    uint64_t number = 0;
    while (at != nullptr && at != end) {
      at = cursor::Varint(at, end, number);
      if (++count > rules.max_count || !NumberFits(rules, number)) return nullptr;
    }
    return at;
  }

  static bool PackedFixed(const FieldRules& rules, const char* at, const char* end, uint8_t size,
                          uint32_t& count) {
    const auto bytes = static_cast<size_t>(end - at);
    if (bytes % size != 0 || bytes / size > rules.max_count - count) return false;
    count += static_cast<uint32_t>(bytes / size);
    return !rules.finite || AllFinite(at, end);
  }

  uint32_t submessages_left_;
  uint32_t unknown_fields_ = 0;
};

}  // namespace

const QuickTable& QuickTableOf(const MessageRules& rules) {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): locked inside, never freed
  static auto* const kTables = new Tables;
  return kTables->Get(rules);
}

bool QuickScan(const QuickTable& table, std::string_view payload) {
  return Scan(table).Message(table, payload.data(), payload.data() + payload.size(), 0);
}

}  // namespace superfluid::linkw
