#include "engine/pocketsphinx/model_files.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHeadBytes = 65536;

std::string Head(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return head;
}

bool IsModelDefinition(std::string_view head) {
  return head.starts_with("BMDF") || head.starts_with("FDMB") || head.starts_with("0.3") ||
         head.starts_with('#');
}

bool IsS3File(std::string_view head) { return head.starts_with("s3\n"); }

bool IsAnything(std::string_view head) { return !head.empty(); }

bool IsLanguageModel(std::string_view head) {
  return head.starts_with("Trie Language Model") ||
         head.find("Darpa Trigram LM") != std::string_view::npos ||
         head.find("\\data\\") != std::string_view::npos;
}

// Lines of a word and its phones: text, in which the first line has at least two fields.
bool IsDictionary(std::string_view head) {
  if (head.empty() || head.find('\0') != std::string_view::npos) return false;
  const std::string_view line = head.substr(0, head.find('\n'));
  return line.find_first_of(" \t") != std::string_view::npos;
}

using Predicate = bool (*)(std::string_view);

absl::Status CheckPart(const fs::path& path, Predicate is_right) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return absl::NotFoundError(absl::StrCat("the model has no file ", path.string()));
  }
  if (is_right(Head(path))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path.string(), " is not what a pocketsphinx model has under that name"));
}

absl::Status CheckAcousticModel(const fs::path& folder) {
  const std::pair<const char*, Predicate> parts[] = {{"mdef", IsModelDefinition},
                                                     {"means", IsS3File},
                                                     {"variances", IsS3File},
                                                     {"transition_matrices", IsS3File}};
  for (const auto& [name, is_right] : parts) {
    if (absl::Status status = CheckPart(folder / name, is_right); !status.ok()) return status;
  }
  std::error_code error;
  const bool mixtures = fs::exists(folder / "mixture_weights", error);
  return mixtures ? CheckPart(folder / "mixture_weights", IsS3File)
                  : CheckPart(folder / "sendump", IsAnything);
}

std::vector<fs::path> Sorted(const fs::path& folder,
                             const std::function<bool(const fs::path&)>& keep) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (keep(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool HasSuffix(const fs::path& path, std::initializer_list<std::string_view> suffixes) {
  const std::string name = path.filename().string();
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&name](std::string_view suffix) { return name.ends_with(suffix); });
}

absl::StatusOr<std::string> FindAcousticModel(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "mdef", error)) return folder.string();
  const std::vector<fs::path> found = Sorted(folder, [](const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path / "mdef", ignored);
  });
  if (found.size() == 1) return found[0].string();
  return absl::NotFoundError(absl::StrCat(folder.string(),
                                          found.empty() ? " holds no" : " holds more than one",
                                          " acoustic model (a folder with a file mdef)"));
}

absl::StatusOr<std::string> FindOne(const fs::path& folder, const char* what,
                                    std::initializer_list<std::string_view> suffixes) {
  const std::vector<fs::path> found =
      Sorted(folder, [&suffixes](const fs::path& path) { return HasSuffix(path, suffixes); });
  if (found.empty()) {
    return absl::NotFoundError(absl::StrCat(folder.string(), " holds no ", what, " (*",
                                            std::string(*suffixes.begin()), ")"));
  }
  if (found.size() == 1) return found[0].string();
  const std::string prefix = folder.filename().string() + ".";
  for (const fs::path& path : found) {
    if (path.filename().string().starts_with(prefix)) return path.string();
  }
  return absl::InvalidArgumentError(absl::StrCat(folder.string(), " holds more than one ", what,
                                                 " and none is called ", prefix, "*"));
}

}  // namespace

absl::StatusOr<ModelFiles> FindModelFiles(const std::string& folder) {
  fs::path path = fs::path(folder.empty() ? kDefaultModelFolder : folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // it ended with a slash
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return absl::NotFoundError(
        absl::StrCat("there is no model folder ", path.string(),
                     folder.empty() ? " (is the package pocketsphinx-en-us installed?)" : ""));
  }
  absl::StatusOr<std::string> acoustic = FindAcousticModel(path);
  if (!acoustic.ok()) return acoustic.status();
  if (absl::Status status = CheckAcousticModel(*acoustic); !status.ok()) return status;
  absl::StatusOr<std::string> language =
      FindOne(path, "language model", {".lm.bin", ".lm.dmp", ".lm"});
  if (!language.ok()) return language.status();
  if (absl::Status status = CheckPart(*language, IsLanguageModel); !status.ok()) return status;
  absl::StatusOr<std::string> dictionary = FindOne(path, "dictionary", {".dict", ".dic"});
  if (!dictionary.ok()) return dictionary.status();
  if (absl::Status status = CheckPart(*dictionary, IsDictionary); !status.ok()) return status;
  return ModelFiles{path.filename().string(), *acoustic, *language, *dictionary};
}

}  // namespace superfluid
