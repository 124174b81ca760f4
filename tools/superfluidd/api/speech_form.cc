#include "tools/superfluidd/api/speech_form.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace superfluid::daemon {
namespace {

constexpr std::pair<const char*, AnswerFormat> kFormats[] = {
    {"json", AnswerFormat::kJson},
    {"text", AnswerFormat::kText},
    {"srt", AnswerFormat::kSrt},
    {"vtt", AnswerFormat::kVtt},
    {"verbose_json", AnswerFormat::kVerboseJson},
};
constexpr double kMaxTemperature = 1;
constexpr size_t kMaxLanguage = 32;

ApiError Wrong(const char* param, std::string message) {
  return {.status = 400,
          .message = std::move(message),
          .type = "invalid_request_error",
          .code = "invalid_value",
          .param = param};
}

// The values of a field that may be repeated, under both of its spellings.
std::vector<std::string> ListOf(const UploadForm& form, const std::string& name) {
  std::vector<std::string> values = form.All(name + "[]");
  for (std::string& value : form.All(name)) values.push_back(std::move(value));
  return values;
}

std::optional<ApiError> ReadFormat(const UploadForm& form, SpeechForm& speech) {
  const std::string wanted = form.Field("response_format");
  if (wanted.empty()) return std::nullopt;
  for (const auto& [name, format] : kFormats) {
    if (wanted == name) {
      speech.format = format;
      return std::nullopt;
    }
  }
  return Wrong("response_format",
               absl::StrCat("'", wanted,
                            "' is no response_format: json, text, srt, verbose_json and vtt are"));
}

std::optional<ApiError> ReadStream(const UploadForm& form, SpeechForm& speech) {
  const std::string wanted = absl::AsciiStrToLower(form.Field("stream"));
  if (wanted.empty()) return std::nullopt;
  if (!absl::SimpleAtob(wanted, &speech.stream)) {
    return Wrong("stream", "stream is neither true nor false");
  }
  const bool cues = speech.format == AnswerFormat::kSrt || speech.format == AnswerFormat::kVtt;
  if (speech.stream && cues) {
    return Wrong("response_format", "a stream has no form for srt and vtt: use json");
  }
  return std::nullopt;
}

std::optional<ApiError> ReadGranularities(const UploadForm& form, SpeechForm& speech) {
  const std::vector<std::string> wanted = ListOf(form, "timestamp_granularities");
  if (wanted.empty()) return std::nullopt;
  speech.segments = false;
  for (const std::string& value : wanted) {
    if (value == "word") {
      speech.words = true;
    } else if (value == "segment") {
      speech.segments = true;
    } else {
      return Wrong("timestamp_granularities",
                   absl::StrCat("'", value, "' is no granularity: word and segment are"));
    }
  }
  return std::nullopt;
}

std::optional<ApiError> ReadInclude(const UploadForm& form, SpeechForm& speech) {
  for (const std::string& value : ListOf(form, "include")) {
    if (value != "logprobs") {
      return Wrong("include", absl::StrCat("'", value, "' cannot be included: logprobs can"));
    }
    speech.logprobs = true;
  }
  return std::nullopt;
}

std::optional<ApiError> CheckTemperature(const UploadForm& form, SpeechForm&) {
  const std::string text = form.Field("temperature");
  double value = 0;
  if (text.empty() || (absl::SimpleAtod(text, &value) && value >= 0 && value <= kMaxTemperature)) {
    return std::nullopt;
  }
  return Wrong("temperature", "temperature is a number from 0 to 1");
}

std::optional<ApiError> ReadLanguage(const UploadForm& form, SpeechForm& speech) {
  speech.language = absl::AsciiStrToLower(form.Field("language"));
  if (speech.language == "auto") speech.language.clear();
  if (speech.language.size() <= kMaxLanguage) return std::nullopt;
  return Wrong("language", "language is a short code, as en");
}

}  // namespace

std::variant<SpeechForm, ApiError> ParseSpeechForm(SpeechTask task, const UploadForm& form) {
  SpeechForm speech;
  speech.task = task;
  speech.model = form.Field("model");
  speech.prompt = form.Field("prompt");
  if (form.file == nullptr || form.file->size() == 0) {
    return Wrong("file", form.file == nullptr ? "there is no file" : "the file is empty");
  }
  for (const auto read : {&ReadLanguage, &ReadFormat, &ReadStream, &ReadGranularities, &ReadInclude,
                          &CheckTemperature}) {
    if (std::optional<ApiError> error = read(form, speech)) return *std::move(error);
  }
  return speech;
}

}  // namespace superfluid::daemon
