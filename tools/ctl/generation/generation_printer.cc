#include "tools/ctl/generation/generation_printer.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "protocol/messages/status.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {
namespace {

std::string LanePrefix(size_t lane) { return absl::StrCat("lane ", lane, ": "); }

std::string LogitsText(uint64_t position, absl::Span<const linkw::TokenLogit> logits) {
  std::string text = absl::StrCat("logits at ", position, ":");
  for (const linkw::TokenLogit& entry : logits) {
    absl::StrAppendFormat(&text, " %d=%g", entry.token, entry.logit);
  }
  return text + "\n";
}

Json TokensJson(absl::Span<const linkw::Token> tokens) {
  return Json(std::vector<linkw::Token>(tokens.begin(), tokens.end()));
}

double TokensPerSecond(const GenerationOutcome& outcome) {
  const double seconds = absl::ToDoubleSeconds(outcome.elapsed);
  return seconds <= 0 ? 0 : static_cast<double>(outcome.TokensDrawn()) / seconds;
}

std::string StatusText(linkw::Status status) { return std::string(linkw::StatusName(status)); }

// What ends a text is often no part of it: the end-of-text token of a grammar.
absl::Span<const linkw::Token> WithoutEnd(absl::Span<const linkw::Token> tokens,
                                          linkw::FinishReason finish) {
  const bool has_end =
      finish == linkw::FinishReason::kStopToken && !tokens.empty() && !IsOfText(tokens.back());
  return has_end ? tokens.first(tokens.size() - 1) : tokens;
}

std::string TextOf(absl::Span<const linkw::Token> tokens) {
  ByteTokenText text;
  const std::string shown = text.Push(tokens);
  return shown + text.Finish();
}

Json LaneJson(size_t number, const LaneOutcome& lane, bool as_text) {
  Json json = {{"lane", number}, {"tokens", TokensJson(lane.tokens)}};
  if (as_text) json["text"] = TextOf(WithoutEnd(lane.tokens, lane.finish));
  json["finish"] = std::string(FinishName(lane.finish));
  json["position"] = lane.position;
  json["status"] = StatusText(lane.status);
  if (!lane.message.empty()) json["message"] = lane.message;
  return json;
}

// "max-tokens", or "2 max-tokens, 1 stop token".
std::string EndsText(const GenerationOutcome& outcome) {
  std::map<std::string_view, int> ends;
  for (const LaneOutcome& lane : outcome.lanes) ++ends[FinishName(lane.finish)];
  if (ends.size() == 1) return std::string(ends.begin()->first);
  std::string text;
  for (const auto& [name, count] : ends) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", count, " ", std::string(name));
  }
  return text;
}

}  // namespace

GenerationPrinter::GenerationPrinter(GenerationPrintOptions options, size_t lanes, Output* out,
                                     std::function<void(const absl::Status&)> on_write_error)
    : options_(options),
      out_(out),
      on_write_error_(std::move(on_write_error)),
      texts_(lanes),
      held_(lanes) {}

void GenerationPrinter::Write(const std::string& text) {
  if (failed_ || text.empty()) return;
  const absl::Status status = out_->Write(text);
  if (status.ok()) return;
  failed_ = true;
  on_write_error_(status);
}

void GenerationPrinter::BreakLine() {
  if (std::exchange(in_line_, false)) Write("\n");
}

std::string GenerationPrinter::Shown(size_t lane, absl::Span<const linkw::Token> tokens) {
  if (!options_.as_text) return TokenIdsText(tokens);
  std::vector<linkw::Token> whole = std::exchange(held_[lane], {});
  whole.insert(whole.end(), tokens.begin(), tokens.end());
  if (!whole.empty() && !IsOfText(whole.back())) {
    held_[lane].push_back(whole.back());
    whole.pop_back();
  }
  return texts_[lane].Push(whole);
}

// What is left of a lane at its end.
std::string GenerationPrinter::Rest(size_t lane, linkw::FinishReason finish) {
  if (!options_.as_text) return "";
  const std::vector<linkw::Token> held = std::exchange(held_[lane], {});
  const std::string text = texts_[lane].Push(WithoutEnd(held, finish));
  return text + texts_[lane].Finish();
}

void GenerationPrinter::PrintBatch(size_t lane, absl::Span<const linkw::Token> tokens) {
  const std::string shown = Shown(lane, tokens);
  if (texts_.size() > 1) {
    if (!shown.empty()) Write(absl::StrCat(LanePrefix(lane), shown, "\n"));
    return;
  }
  const bool apart = in_line_ && !options_.as_text;
  Write(absl::StrCat(apart ? " " : "", shown));
  in_line_ = true;
}

void GenerationPrinter::OnTokens(size_t lane, uint64_t index,
                                 absl::Span<const linkw::Token> tokens) {
  if (!options_.stream) return;
  if (!options_.json) return PrintBatch(lane, tokens);
  Write(JsonLine(
      {{"event", "tokens"}, {"lane", lane}, {"index", index}, {"tokens", TokensJson(tokens)}}));
}

void GenerationPrinter::OnLogits(size_t lane, uint64_t position,
                                 absl::Span<const linkw::TokenLogit> logits) {
  if (options_.json) {
    Json pairs = Json::array();
    for (const linkw::TokenLogit& entry : logits) {
      pairs.push_back(Json::array({entry.token, JsonFloat(entry.logit)}));
    }
    Write(JsonLine({{"event", "logits"}, {"lane", lane}, {"position", position}, {"top", pairs}}));
    return;
  }
  BreakLine();
  Write(absl::StrCat(texts_.size() > 1 ? LanePrefix(lane) : "", LogitsText(position, logits)));
}

void GenerationPrinter::OnEnd(const GenerationOutcome& outcome) {
  if (options_.json) return Write(JsonLine(GenerationJson(outcome, options_.as_text)));
  if (!options_.stream) {
    for (size_t lane = 0; lane < outcome.lanes.size(); ++lane) {
      if (!outcome.lanes[lane].tokens.empty()) PrintBatch(lane, outcome.lanes[lane].tokens);
    }
  }
  for (size_t lane = 0; lane < texts_.size(); ++lane) {
    const std::string rest = Rest(lane, outcome.lanes[lane].finish);
    if (!rest.empty() && texts_.size() > 1) Write(absl::StrCat(LanePrefix(lane), rest, "\n"));
    if (texts_.size() == 1) Write(rest);
  }
  BreakLine();
}

Json GenerationJson(const GenerationOutcome& outcome, bool as_text) {
  Json json = {{"event", "result"}, {"status", StatusText(outcome.status)}};
  if (!outcome.message.empty()) json["message"] = outcome.message;
  Json lanes = Json::array();
  for (size_t i = 0; i < outcome.lanes.size(); ++i) {
    lanes.push_back(LaneJson(i, outcome.lanes[i], as_text));
  }
  json["lanes"] = lanes;
  json["prompt_tokens"] = outcome.prompt_tokens;
  json["tokens"] = outcome.TokensDrawn();
  json["ticks"] = outcome.ticks;
  json["dropped_emits"] = outcome.dropped_emits;
  json["elapsed_ms"] = JsonMs(outcome.elapsed);
  json["tokens_per_second"] = JsonFloat(static_cast<float>(TokensPerSecond(outcome)));
  if (outcome.first_token.has_value()) json["first_token_ms"] = JsonMs(*outcome.first_token);
  if (outcome.stop.has_value()) json["stop_ms"] = JsonMs(*outcome.stop);
  return json;
}

std::string GenerationSummary(const GenerationOutcome& outcome) {
  std::string text = absl::StrFormat("%s in %s (%.1f tokens/s), %s, prompt of %d",
                                     CountText(outcome.TokensDrawn(), "token"),
                                     DurationText(outcome.elapsed), TokensPerSecond(outcome),
                                     CountText(outcome.ticks, "tick"), outcome.prompt_tokens);
  if (outcome.first_token.has_value()) {
    absl::StrAppend(&text, ", first after ", DurationText(*outcome.first_token));
  }
  if (outcome.dropped_emits > 0) {
    absl::StrAppend(&text, ", ", outcome.dropped_emits, " emits came late");
  }
  return absl::StrCat(text, "; ended by: ", EndsText(outcome), "\n");
}

}  // namespace superfluid::ctl
