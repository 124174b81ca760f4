#include "engine/whisper/model_file.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "engine/whisper/ggml_file.h"

namespace superfluid {
namespace {

constexpr int kEnglishVocabulary = 51864;  // the special tokens are at fixed places
constexpr int kMultilingualVocabulary = 51865;
constexpr int kMostVocabulary = 60'000;
constexpr int kMostContext = 1500;  // of audio: 20 ms each, the 30 s that a model hears at once
constexpr int kSpectrumBins = 201;
constexpr int32_t kQuantisationVersionFactor = 1000;
constexpr int64_t kMostTokenBytes = 1024;

struct WeightType {
  int32_t file_type;  // in the header
  int32_t type;       // of a tensor
  const char* name;
};

constexpr WeightType kWeightTypes[] = {
    {0, 0, "f32"},    {1, 1, "f16"},    {2, 2, "q4_0"},   {3, 3, "q4_1"},
    {7, 8, "q8_0"},   {8, 6, "q5_0"},   {9, 7, "q5_1"},   {10, 10, "q2_k"},
    {11, 11, "q3_k"}, {12, 12, "q4_k"}, {13, 13, "q5_k"}, {14, 14, "q6_k"},
};

struct NumberInHeader {
  const char* name;
  int WhisperModelFile::*field;
  int least;
  int most;
};

constexpr NumberInHeader kHeader[] = {
    {"vocabulary", &WhisperModelFile::vocabulary, kEnglishVocabulary, kMostVocabulary},
    {"audio context", &WhisperModelFile::audio_context, kMostContext, kMostContext},
    {"audio width", &WhisperModelFile::audio_width, 16, 8192},
    {"audio heads", &WhisperModelFile::audio_heads, 1, 128},
    {"audio layers", &WhisperModelFile::audio_layers, 1, 128},
    {"text context", &WhisperModelFile::text_context, 64, 448},
    {"text width", &WhisperModelFile::text_width, 16, 8192},
    {"text heads", &WhisperModelFile::text_heads, 1, 128},
    {"text layers", &WhisperModelFile::text_layers, 1, 128},
    {"mel bands", &WhisperModelFile::mel_bands, 80, 128},
};

void ReadHeader(GgmlFile& file, WhisperModelFile& model) {
  for (const NumberInHeader& number : kHeader) {
    const int32_t value = file.Int();
    if (value < number.least || value > number.most) {
      file.Fail(absl::StrCat("is no Whisper model that can be: its ", number.name, " is ", value));
      return;
    }
    model.*number.field = value;
  }
  if (model.text_width != model.audio_width || model.text_width % model.text_heads != 0 ||
      model.audio_width % model.audio_heads != 0) {
    file.Fail("is no Whisper model that can be: its widths and heads do not fit together");
  }
}

const WeightType* ReadWeightType(GgmlFile& file, const WhisperModelFile& model) {
  const int32_t file_type = file.Int() % kQuantisationVersionFactor;
  for (const WeightType& known : kWeightTypes) {
    if (known.file_type != file_type) continue;
    const auto width = static_cast<uint64_t>(std::max(model.audio_width, 1));
    if (width % BlockOf(known.type).elements == 0) return &known;
  }
  file.Fail(absl::StrCat("has weights of a kind (", file_type, ") that is not known"));
  return nullptr;
}

void SkipMelFilters(GgmlFile& file, const WhisperModelFile& model) {
  const int32_t bands = file.Int();
  const int32_t bins = file.Int();
  if (bands != model.mel_bands || bins != kSpectrumBins) {
    file.Fail("has mel filters of another size than its header says");
    return;
  }
  file.Skip(static_cast<uint64_t>(bands) * static_cast<uint64_t>(bins) * sizeof(float));
}

void SkipVocabulary(GgmlFile& file, const WhisperModelFile& model) {
  const int32_t tokens = file.Int();
  if (tokens < 1 || tokens > model.vocabulary) file.Fail("has a vocabulary of another size");
  bool has_space = false;
  for (int32_t i = 0; i < tokens && file.status().ok(); ++i) {
    has_space = file.Text(file.Int(), kMostTokenBytes) == " " || has_space;
  }
  if (!has_space) file.Fail("has a vocabulary without a space");
}

// Elements of all tensors: what the library allocates.
uint64_t ExpectedElements(const WhisperModelFile& model) {
  const auto width = static_cast<uint64_t>(model.audio_width);
  const auto count = [](int number) { return static_cast<uint64_t>(number); };
  const uint64_t square = width * width;
  const uint64_t encoder = width * count(model.audio_context) + 3 * width * count(model.mel_bands) +
                           3 * square + 4 * width +
                           count(model.audio_layers) * (12 * square + 12 * width);
  const uint64_t decoder = width * (count(model.text_context) + count(model.vocabulary)) +
                           2 * width + count(model.text_layers) * (16 * square + 17 * width);
  return encoder + decoder;
}

int ExpectedTensors(const WhisperModelFile& model) {
  return 11 + 15 * model.audio_layers + 24 * model.text_layers;
}

// The one architecture of Silero that the library knows.
constexpr std::array<int32_t, 18> kVadHeader = {
    512, 64,                                              // samples of a block, of context
    4,   129, 128, 3, 128, 64, 3, 64, 64, 3, 64, 128, 3,  // layers: in, out, kernel
    128, 128,                                             // recurrent: in, hidden
    128};                                                 // last layer
constexpr int kVadTensors = 15;
constexpr uint64_t kVadElements = 256 * 258 + (3 * 129 * 128 + 128) + (3 * 128 * 64 + 64) +
                                  (3 * 64 * 64 + 64) + (3 * 64 * 128 + 128) +
                                  2 * (128 * 512 + 512) + 128 + 1;

}  // namespace

bool WhisperModelFile::multilingual() const { return vocabulary >= kMultilingualVocabulary; }

int WhisperModelFile::languages() const { return multilingual() ? vocabulary - 51'766 : 1; }

absl::StatusOr<WhisperModelFile> CheckWhisperModel(const std::string& path) {
  absl::StatusOr<GgmlFile> file = GgmlFile::Open(path);
  if (!file.ok()) return file.status();
  WhisperModelFile model;
  model.name = std::filesystem::path(path).filename().string();
  model.bytes = file->bytes();
  ReadHeader(*file, model);
  if (!file->status().ok() && CheckVadModel(path).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        model.name, " is a voice activity model; it belongs to the engine option vad_model"));
  }
  const WeightType* const weights = ReadWeightType(*file, model);
  SkipMelFilters(*file, model);
  SkipVocabulary(*file, model);
  if (!file->status().ok()) return file->status();
  const GgmlTensors tensors = SkipTensors(*file, weights->type);
  if (tensors.count != ExpectedTensors(model)) {
    file->Fail(
        absl::StrCat("has ", tensors.count, " tensors and should have ", ExpectedTensors(model)));
  }
  if (tensors.elements != ExpectedElements(model)) {
    file->Fail("has tensors of other sizes than its header says");
  }
  if (!file->status().ok()) return file->status();
  model.weights = weights->name;
  return model;
}

absl::Status CheckVadModel(const std::string& path) {
  absl::StatusOr<GgmlFile> file = GgmlFile::Open(path);
  if (!file.ok()) return file.status();
  const int32_t length = file->Int();
  if (length < 1 || length > 64 || !file->Text(length, 64).starts_with("silero")) {
    file->Fail("is no voice activity model of Silero");
  }
  for (int i = 0; i < 3; ++i) file->Int();  // version
  for (const int32_t expected : kVadHeader) {
    if (file->Int() != expected) file->Fail("is a voice activity model of an unknown kind");
  }
  if (file->Int() != 1) file->Fail("is a voice activity model of an unknown kind");
  const GgmlTensors tensors = SkipTensors(*file, 1);
  if (tensors.count != kVadTensors || tensors.elements != kVadElements) {
    file->Fail("has other tensors than a voice activity model has");
  }
  return file->status();
}

}  // namespace superfluid
