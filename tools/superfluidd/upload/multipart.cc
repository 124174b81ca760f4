#include "tools/superfluidd/upload/multipart.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace superfluid::daemon {
namespace {

constexpr std::string_view kLineBreak = "\r\n";
constexpr size_t kMaxBoundary = 70;  // RFC 2046
constexpr size_t kMaxPadding = 64;   // white space behind a delimiter
constexpr absl::string_view kDisposition = "content-disposition:";

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Takes a value from the front of `text`, quoted or up to the next semicolon.
std::string TakeValue(std::string_view& text) {
  std::string value;
  if (text.empty() || text.front() != '"') {
    const size_t end = std::min(text.find(';'), text.size());
    value = std::string(absl::StripAsciiWhitespace(View(text.substr(0, end))));
    text.remove_prefix(end);
    return value;
  }
  size_t at = 1;
  for (; at < text.size() && text[at] != '"'; ++at) {
    // Browsers escape a quote as %22 and leave a backslash alone, others escape with one.
    if (text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\')) {
      ++at;
    }
    value.push_back(text[at]);
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  return value;
}

// Takes "; key=value" from the front of `text`, key in lower case; nullopt at its end.
std::optional<std::pair<std::string, std::string>> TakeParameter(std::string_view& text) {
  while (!text.empty() && (IsBlank(text.front()) || text.front() == ';')) text.remove_prefix(1);
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const auto key = absl::StripAsciiWhitespace(View(text.substr(0, equals)));
  std::pair<std::string, std::string> parameter{absl::AsciiStrToLower(key), ""};
  text.remove_prefix(equals + 1);
  parameter.second = TakeValue(text);
  return parameter;
}

}  // namespace

std::optional<std::string> BoundaryOf(std::string_view content_type) {
  const size_t semicolon = std::min(content_type.find(';'), content_type.size());
  const auto type = absl::StripAsciiWhitespace(View(content_type.substr(0, semicolon)));
  if (!absl::EqualsIgnoreCase(type, "multipart/form-data")) return std::nullopt;
  content_type.remove_prefix(semicolon);
  while (auto parameter = TakeParameter(content_type)) {
    if (parameter->first != "boundary") continue;
    const std::string& boundary = parameter->second;
    const bool printable = std::all_of(boundary.begin(), boundary.end(),
                                       [](char c) { return absl::ascii_isprint(c); });
    if (boundary.empty() || boundary.size() > kMaxBoundary || !printable) return std::nullopt;
    return boundary;
  }
  return std::nullopt;
}

std::optional<PartInfo> ParseDisposition(std::string_view line) {
  if (!absl::StartsWithIgnoreCase(View(line), kDisposition)) return std::nullopt;
  line.remove_prefix(kDisposition.size());
  PartInfo part;
  const size_t semicolon = std::min(line.find(';'), line.size());
  line.remove_prefix(semicolon);  // "form-data"
  while (auto parameter = TakeParameter(line)) {
    if (parameter->first == "name") part.name = std::move(parameter->second);
    if (parameter->first == "filename") {
      part.filename = std::move(parameter->second);
      part.is_file = true;
    }
  }
  return part;
}

MultipartParser::MultipartParser(std::string_view boundary, PartSink& sink, const Limits& limits)
    : delimiter_("\r\n--" + std::string(boundary)), sink_(sink), limits_(limits) {}

bool MultipartParser::Feed(std::string_view piece) {
  if (state_ == State::kFailed) return false;
  if (kept_.empty()) {
    const size_t used = Consume(piece);
    kept_.assign(piece.substr(used));
  } else {
    kept_.append(piece);
    kept_.erase(0, Consume(kept_));
  }
  return state_ != State::kFailed;
}

size_t MultipartParser::Consume(std::string_view bytes) {
  size_t at = 0;
  Step step = Step::kAgain;
  while (step == Step::kAgain) {
    size_t used = 0;
    step = StepOnce(bytes.substr(at), &used);
    at += used;
  }
  return at;
}

MultipartParser::Step MultipartParser::StepOnce(std::string_view bytes, size_t* used) {
  switch (state_) {
    case State::kPreamble:
      return StepPreamble(bytes, used);
    case State::kAfterDelimiter:
      return StepAfterDelimiter(bytes, used);
    case State::kHeader:
      return StepHeader(bytes, used);
    case State::kContents:
      return StepContents(bytes, used);
    case State::kEpilogue:
      *used = bytes.size();
      return Step::kMore;
    case State::kFailed:
      break;
  }
  return Step::kFailed;
}

// The first delimiter has no line break before it; nothing else may stand there, since no client
// sends a preamble and its end could not be told in a bounded window.
MultipartParser::Step MultipartParser::StepPreamble(std::string_view bytes, size_t* used) {
  const std::string_view first = std::string_view(delimiter_).substr(kLineBreak.size());
  const size_t have = std::min(bytes.size(), first.size());
  if (bytes.substr(0, have) != first.substr(0, have)) {
    return Fail("the body does not begin with its boundary");
  }
  if (have < first.size()) return Step::kMore;
  *used = first.size();
  state_ = State::kAfterDelimiter;
  return Step::kAgain;
}

MultipartParser::Step MultipartParser::StepAfterDelimiter(std::string_view bytes, size_t* used) {
  if (bytes.size() < 2) return Step::kMore;
  if (bytes.substr(0, 2) == "--") {
    *used = 2;
    state_ = State::kEpilogue;
    return Step::kAgain;
  }
  size_t end = 0;
  while (end < bytes.size() && IsBlank(bytes[end])) ++end;
  if (end > kMaxPadding) return Fail("a line with a boundary is too long");
  if (end + kLineBreak.size() > bytes.size()) return Step::kMore;
  if (bytes.substr(end, kLineBreak.size()) != kLineBreak) {
    return Fail("a line with a boundary is not ended");
  }
  if (++parts_ > limits_.parts) return Fail("too many parts");
  *used = end + kLineBreak.size();
  part_ = {};
  header_seen_ = 0;
  state_ = State::kHeader;
  return Step::kAgain;
}

MultipartParser::Step MultipartParser::StepHeader(std::string_view bytes, size_t* used) {
  const size_t end = bytes.find(kLineBreak);
  const size_t seen = std::min(end, bytes.size());
  if (header_seen_ + seen > limits_.header_bytes) return Fail("a part's header is too long");
  if (end == std::string_view::npos) return Step::kMore;
  header_seen_ += end + kLineBreak.size();
  *used = end + kLineBreak.size();
  if (end > 0) {
    if (auto part = ParseDisposition(bytes.substr(0, end))) part_ = *std::move(part);
    return Step::kAgain;
  }
  if (part_.name.empty()) return Fail("a part has no name");
  state_ = State::kContents;
  return sink_.OnPart(part_) ? Step::kAgain : Fail("");
}

// What may be the begin of a delimiter waits for the next piece.
MultipartParser::Step MultipartParser::StepContents(std::string_view bytes, size_t* used) {
  const size_t hit = bytes.find(delimiter_);
  const bool found = hit != std::string_view::npos;
  const size_t length = found ? hit : bytes.size() - std::min(bytes.size(), delimiter_.size() - 1);
  if (length > 0 && !sink_.OnData(bytes.substr(0, length))) return Fail("");
  *used = length;
  if (!found) return Step::kMore;
  *used += delimiter_.size();
  state_ = State::kAfterDelimiter;
  return sink_.OnPartEnd() ? Step::kAgain : Fail("");
}

MultipartParser::Step MultipartParser::Fail(std::string_view why) {
  error_ = std::string(why);
  state_ = State::kFailed;
  return Step::kFailed;
}

}  // namespace superfluid::daemon
