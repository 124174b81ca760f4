#include "tools/worker/log_line.h"

#include <algorithm>
#include <cstring>
#include <ctime>

namespace superfluid {
namespace {

constexpr size_t kTail = 2;  // room for the quote and the newline behind what is cut
constexpr std::string_view kLogFormatIs = "--log-format=";
constexpr std::string_view kHexDigits = "0123456789abcdef";

struct Date {
  uint64_t year;
  uint64_t month;
  uint64_t day;
};

// Returns the date of a day counted from 1970-01-01, by the proleptic Gregorian calendar. Counts
// in eras of 400 years that begin on the first of March.
Date DateOf(uint64_t days_since_1970) {
  const uint64_t days = days_since_1970 + 719'468;  // since 0000-03-01
  const uint64_t era = days / 146'097;
  const uint64_t day_of_era = days % 146'097;
  const uint64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const uint64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint64_t month_from_march = (5 * day_of_year + 2) / 153;
  const uint64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  return {.year = era * 400 + year_of_era + (month <= 2 ? 1 : 0),
          .month = month,
          .day = day_of_year - (153 * month_from_march + 2) / 5 + 1};
}

}  // namespace

bool AsksForJsonLog(int argc, const char* const* argv) {
  bool asks = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--log-format" && i + 1 < argc) {
      asks = std::string_view(argv[i + 1]) == "json";
    } else if (argument.substr(0, kLogFormatIs.size()) == kLogFormatIs) {
      asks = argument.substr(kLogFormatIs.size()) == "json";
    }
  }
  return asks;
}

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only what was written is read
LogLine::LogLine(std::string_view level, std::string_view event) {
  AppendTime();
  Append(" ");
  Append(level);
  Append(" ");
  Append(event);
}

LogLine& LogLine::Number(std::string_view key, int64_t value) {
  AppendKey(key);
  if (value < 0) Append("-");
  const auto bits = static_cast<uint64_t>(value);
  AppendDigits(value < 0 ? uint64_t{0} - bits : bits, 1);
  return *this;
}

LogLine& LogLine::Hex(std::string_view key, uint64_t value) {
  AppendKey(key);
  std::array<char, 16> digits{};
  size_t first = digits.size();
  do {
    digits[--first] = kHexDigits[value % 16];
    value /= 16;
  } while (value != 0);
  Append("0x");
  Append({digits.data() + first, digits.size() - first});
  return *this;
}

LogLine& LogLine::Text(std::string_view key, std::string_view value) {
  AppendKey(key);
  Append("\"");
  if (cut_) return *this;
  for (const char c : value) AppendEscaped(c);
  buffer_[size_++] = '"';
  return *this;
}

std::string_view LogLine::End(const LogStyle& style) {
  if (!style.worker.empty()) {
    for (const std::string_view part : {std::string_view(" worker="), style.worker}) {
      size_ += part.copy(buffer_.data() + size_, kMostName);
    }
  }
  buffer_[size_++] = '\n';
  const std::string_view line(buffer_.data(), size_);
  return style.format == LogFormat::kJson ? WriteJsonLine(line, absl::MakeSpan(json_)) : line;
}

void LogLine::Append(std::string_view text) {
  cut_ = cut_ || size_ + text.size() + kTail > kRoom;
  if (cut_) return;
  std::memcpy(buffer_.data() + size_, text.data(), text.size());
  size_ += text.size();
}

void LogLine::AppendKey(std::string_view key) {
  Append(" ");
  Append(key);
  Append("=");
}

void LogLine::AppendTime() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto seconds = static_cast<uint64_t>(std::max<time_t>(now.tv_sec, 0));
  const Date date = DateOf(seconds / 86'400);
  AppendDigits(date.year, 4);
  Append("-");
  AppendDigits(date.month, 2);
  Append("-");
  AppendDigits(date.day, 2);
  Append("T");
  AppendDigits(seconds / 3600 % 24, 2);
  Append(":");
  AppendDigits(seconds / 60 % 60, 2);
  Append(":");
  AppendDigits(seconds % 60, 2);
  Append(".");
  AppendDigits(static_cast<uint64_t>(now.tv_nsec) / 1000, 6);
  Append("Z");
}

void LogLine::AppendDigits(uint64_t value, int width) {
  std::array<char, 20> digits{};
  size_t first = digits.size();
  while (value != 0 || width > 0) {
    digits[--first] = static_cast<char>('0' + value % 10);
    value /= 10;
    --width;
  }
  Append({digits.data() + first, digits.size() - first});
}

void LogLine::AppendEscaped(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') {
    const char pair[] = {'\\', c};
    return Append({pair, sizeof pair});
  }
  if (byte >= 0x20 && byte != 0x7F) return Append({&c, 1});
  const char escape[] = {'\\', 'u', '0', '0', kHexDigits[byte / 16], kHexDigits[byte % 16]};
  Append({escape, sizeof escape});
}

}  // namespace superfluid
