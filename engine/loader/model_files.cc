#include "engine/loader/model_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace superfluid {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxEntries = 10'000;
constexpr size_t kMaxLevels = 64;
constexpr size_t kShardDigits = 5;

absl::Status Failed(absl::string_view path, const std::error_code& error) {
  const std::string text = absl::StrCat("'", path, "': ", error.message());
  if (error == std::errc::permission_denied) return absl::PermissionDeniedError(text);
  if (error == std::errc::no_such_file_or_directory) return absl::NotFoundError(text);
  return absl::InternalError(text);
}

class Walk {
 public:
  absl::Status Folder(const fs::path& folder, const std::string& prefix);
  std::vector<ModelFile> TakeFiles() { return std::move(files_); }

 private:
  absl::Status Enter(const fs::path& folder);
  absl::Status Entry(const fs::path& path, const std::string& name);

  std::vector<ModelFile> files_;
  std::vector<fs::path> open_folders_;  // from the top to here, links resolved
  size_t entries_ = 0;
};

absl::Status Walk::Enter(const fs::path& folder) {
  std::error_code error;
  fs::path real = fs::canonical(folder, error);
  if (error) return Failed(folder.string(), error);
  if (std::find(open_folders_.begin(), open_folders_.end(), real) != open_folders_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a link makes '", folder.string(), "' contain itself"));
  }
  if (open_folders_.size() >= kMaxLevels) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has more than ", kMaxLevels, " levels of folders"));
  }
  open_folders_.push_back(std::move(real));
  return absl::OkStatus();
}

absl::Status Walk::Folder(const fs::path& folder, const std::string& prefix) {
  if (absl::Status status = Enter(folder); !status.ok()) return status;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = prefix + entry->path().filename().string();
    if (absl::Status status = Entry(entry->path(), name); !status.ok()) return status;
  }
  if (error) return Failed(folder.string(), error);
  open_folders_.pop_back();
  return absl::OkStatus();
}

absl::Status Walk::Entry(const fs::path& path, const std::string& name) {
  if (++entries_ > kMaxEntries) {
    return absl::InvalidArgumentError(
        absl::StrCat("it holds more than ", kMaxEntries, " files and folders"));
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::NotFoundError(absl::StrCat("'", path.string(), "' is a link to nothing"));
  }
  if (error) return Failed(path.string(), error);
  if (fs::is_directory(status)) return Folder(path, name + "/");
  if (!fs::is_regular_file(status)) {
    return absl::InvalidArgumentError(
        absl::StrCat("it holds '", name, "', which is neither a file nor a folder"));
  }
  files_.push_back({name, path.string()});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ModelFile>> FilesIn(const std::string& folder) {
  Walk walk;
  if (absl::Status status = walk.Folder(folder, ""); !status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat("'", folder, "' is no model: ", status.message()));
  }
  std::vector<ModelFile> files = walk.TakeFiles();
  std::sort(files.begin(), files.end(),
            [](const ModelFile& a, const ModelFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace

std::vector<std::string> ShardsOf(const std::string& path) {
  static constexpr absl::string_view kFirst = "-00001-of-";
  static constexpr absl::string_view kEnding = ".gguf";
  const size_t ending = kShardDigits + kEnding.size();
  const absl::string_view name = path;
  if (name.size() < kFirst.size() + ending || !absl::EndsWith(name, kEnding)) return {path};
  const absl::string_view digits = name.substr(name.size() - ending, kShardDigits);
  const absl::string_view start = name.substr(0, name.size() - ending);
  int count = 0;
  const bool is_number = std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
  if (!is_number || !absl::SimpleAtoi(digits, &count) || !absl::EndsWith(start, kFirst)) {
    return {path};
  }
  std::vector<std::string> shards;
  for (int i = 1; i <= count; ++i) {
    shards.push_back(absl::StrCat(start.substr(0, start.size() - kFirst.size()), "-",
                                  absl::Dec(i, absl::kZeroPad5), "-of-", digits, kEnding));
  }
  return shards.empty() ? std::vector<std::string>{path} : shards;
}

absl::StatusOr<ModelParts> PartsOfModel(const std::string& path) {
  if (path.empty()) return ModelParts{};
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::NotFoundError(absl::StrCat("'", path, "' does not exist"));
  }
  if (error) return Failed(path, error);
  if (fs::is_directory(status)) {
    absl::StatusOr<std::vector<ModelFile>> files = FilesIn(path);
    if (!files.ok()) return files.status();
    return ModelParts{ModelParts::Kind::kFolder, *std::move(files)};
  }
  ModelParts parts;
  for (const std::string& shard : ShardsOf(path)) {
    parts.files.push_back({fs::path(shard).filename().string(), shard});
  }
  parts.kind = parts.files.size() > 1 ? ModelParts::Kind::kShards : ModelParts::Kind::kFile;
  return parts;
}

bool NamesFile(const std::string& value) {
  std::error_code error;
  return !value.empty() && fs::is_regular_file(value, error) && !error;
}

}  // namespace superfluid
