#include "engine/loader/resolve.h"

#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace superfluid {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kPrefix = "libsuperfluid_";
constexpr absl::string_view kSuffix = ".so";
constexpr char kInstalled[] = "lib/superfluid/engines";  // of PREFIX, where the program is in bin

bool IsEngineName(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  });
}

// The engine's name, if `file_name` is that of an engine's library.
std::optional<std::string> NameOfLibrary(absl::string_view file_name) {
  if (!absl::ConsumePrefix(&file_name, kPrefix) || !absl::ConsumeSuffix(&file_name, kSuffix) ||
      !IsEngineName(file_name)) {
    return std::nullopt;
  }
  return std::string{file_name};
}

bool IsFile(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// The entries of a folder, sorted; none if it cannot be read.
std::vector<fs::path> EntriesOf(const std::string& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

void AppendFolder(const std::string& folder, std::vector<std::string>& folders) {
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
    folders.push_back(folder);
  }
}

// Bazel puts the library of engine NAME into engine/NAME.
void AppendRunfiles(const std::string& runfiles, std::vector<std::string>& folders) {
  for (const fs::path& entry : EntriesOf(runfiles + "/superfluid/engine")) {
    if (!ListEngines({entry.string()}).empty()) AppendFolder(entry.string(), folders);
  }
}

absl::Status NoSuchEngine(absl::string_view name, const std::vector<std::string>& search_dirs) {
  const std::vector<std::string> known = ListEngines(search_dirs);
  // Where those that are there were found does not help; where nothing was found does.
  const std::string there =
      known.empty()
          ? absl::StrCat("; looked for ", kPrefix, name, kSuffix, " in ",
                         search_dirs.empty() ? "no folder" : absl::StrJoin(search_dirs, ", "))
          : absl::StrCat("; there are ", absl::StrJoin(known, ", "));
  return absl::NotFoundError(
      absl::StrCat("no engine named '", name, "'", there,
                   ". To load another, name its folder with --engine-dir or in "
                   "$SUPERFLUID_ENGINE_PATH, or give --engine the path of its library."));
}

// A path is not looked at, but for the mistake that is made most.
absl::StatusOr<std::string> LibraryAt(std::string path) {
  if (!IsFolder(path)) return path;
  const std::vector<std::string> there = ListEngines({path});
  return absl::InvalidArgumentError(absl::StrCat(
      "'", path, "' is a folder, which ",
      there.empty() ? "holds no engine" : absl::StrCat("holds ", absl::StrJoin(there, ", ")),
      ". Give --engine the path of a library, or name the folder with --engine-dir "
      "and the engine with --engine."));
}

}  // namespace

absl::StatusOr<std::string> ResolveEngine(absl::string_view name_or_path,
                                          const std::vector<std::string>& search_dirs) {
  if (absl::StrContains(name_or_path, "/")) return LibraryAt(std::string{name_or_path});
  if (!IsEngineName(name_or_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name_or_path,
                     "' is neither the name of an engine (letters, digits, '-' and '_') nor a "
                     "path (with a '/')"));
  }
  for (const std::string& folder : search_dirs) {
    std::string path = absl::StrCat(folder, "/", kPrefix, name_or_path, kSuffix);
    if (IsFile(path)) return path;
  }
  return NoSuchEngine(name_or_path, search_dirs);
}

std::vector<std::string> ListEngines(const std::vector<std::string>& search_dirs) {
  std::set<std::string> names;
  for (const std::string& folder : search_dirs) {
    for (const fs::path& entry : EntriesOf(folder)) {
      std::optional<std::string> name = NameOfLibrary(entry.filename().string());
      if (name.has_value() && IsFile(entry.string())) names.insert(*std::move(name));
    }
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> EngineDirsFor(const EngineDirInputs& inputs) {
  std::vector<std::string> folders;
  if (inputs.engine_path != nullptr) {
    for (absl::string_view folder : absl::StrSplit(inputs.engine_path, ':', absl::SkipEmpty())) {
      AppendFolder(std::string{folder}, folders);
    }
  }
  const fs::path folder = fs::path(inputs.executable).parent_path();
  for (const fs::path& place : {folder / "engines", folder.parent_path() / kInstalled}) {
    if (IsFolder(place.string())) AppendFolder(place.string(), folders);
  }
  AppendRunfiles(inputs.executable + ".runfiles", folders);
  if (inputs.runfiles_dir != nullptr) AppendRunfiles(inputs.runfiles_dir, folders);
  return folders;
}

namespace resolve_internal {

std::string ExecutableWithoutProc() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr,cppcoreguidelines-pro-type-reinterpret-cast)
  const auto* const name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (name == nullptr) return {};
  std::error_code error;
  return fs::canonical(name, error).string();
}

}  // namespace resolve_internal

std::vector<std::string> DefaultEngineDirs() {
  std::error_code error;
  const fs::path linked = fs::read_symlink("/proc/self/exe", error);
  const std::string executable =
      error ? resolve_internal::ExecutableWithoutProc() : linked.string();
  // Not thread-safe against setenv, which the worker never calls.
  return EngineDirsFor({std::getenv("SUPERFLUID_ENGINE_PATH"),  // NOLINT(concurrency-mt-unsafe)
                        std::getenv("RUNFILES_DIR"),            // NOLINT(concurrency-mt-unsafe)
                        executable});
}

}  // namespace superfluid
