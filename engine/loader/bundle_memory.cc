#include "engine/loader/bundle_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/loader/model_files.h"
#include "engine/loader/sha256.h"

namespace superfluid {
namespace {

namespace fs = std::filesystem;
using Hash = std::array<uint8_t, 32>;

constexpr absl::string_view kDomain = "superfluid bundle memory 2";
constexpr int64_t kSettledSeconds = 5;  // coarse file systems count times in two
constexpr size_t kMostEntries = 256;
constexpr size_t kHexDigits = 64;

std::string Hex(const Hash& hash) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

// What stands for the contents of the files, without reading them.
struct Facts {
  Hash key{};
  uint64_t bytes = 0;
  int64_t last_change_s = 0;
};

class FactsOfFiles {
 public:
  FactsOfFiles() { Add(kDomain); }

  // Returns false if the file cannot be looked at.
  bool AddFile(const std::string& name, const std::string& path) {
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    Add(name);
    Add(absl::StrCat(info.st_dev, " ", info.st_ino, " ", info.st_size, " ", info.st_mtim.tv_sec,
                     ".", info.st_mtim.tv_nsec, " ", info.st_ctim.tv_sec, ".",
                     info.st_ctim.tv_nsec));
    facts_.bytes += static_cast<uint64_t>(info.st_size);
    facts_.last_change_s = std::max<int64_t>(
        {facts_.last_change_s, int64_t{info.st_mtim.tv_sec}, int64_t{info.st_ctim.tv_sec}});
    return true;
  }
  void Add(absl::string_view text) {
    hash_.Add(absl::StrCat(text.size(), ":"));
    hash_.Add(text);
  }
  Facts Finish() {
    facts_.key = hash_.Finish();
    return facts_;
  }

 private:
  Facts facts_;
  Sha256 hash_;
};

// Nullopt: a file cannot be looked at, and hashing will say why.
std::optional<Facts> FactsOf(const std::string& library, const std::string& model,
                             EngineOptions options) {
  FactsOfFiles facts;
  if (!facts.AddFile("library", library)) return std::nullopt;
  const absl::StatusOr<ModelParts> parts = PartsOfModel(model);
  if (!parts.ok()) return std::nullopt;
  facts.Add(absl::StrCat(static_cast<int>(parts->kind), " ", parts->files.size()));
  for (const ModelFile& file : parts->files) {
    if (!facts.AddFile(file.name, file.path)) return std::nullopt;
  }
  std::stable_sort(options.begin(), options.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [key, value] : options) {
    facts.Add(key);
    const bool is_file = NamesFile(value);
    facts.Add(is_file ? "file" : "text");
    if (!is_file) {
      facts.Add(value);
    } else if (!facts.AddFile("", value)) {
      return std::nullopt;
    }
  }
  return facts.Finish();
}

// A folder of this user alone that others cannot write to, with a file a hash.
class Folder {
 public:
  explicit Folder(std::string folder) : folder_(std::move(folder)) {}

  // Returns whether the folder is there, or could be made, and may be believed.
  bool Open() {
    if (folder_.empty() || folder_.front() != '/') return false;
    std::error_code error;
    fs::create_directories(fs::path(folder_).parent_path(), error);
    mkdir(folder_.c_str(), S_IRWXU);
    struct stat info = {};
    return stat(folder_.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  }

  std::optional<Hash> Find(const Hash& key) const {
    const int fd = open(PathOf(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return std::nullopt;
    std::array<char, kHexDigits + 1> text = {};
    const ssize_t got = read(fd, text.data(), text.size());
    close(fd);
    const absl::string_view hex(text.data(), kHexDigits);
    const bool whole = got == static_cast<ssize_t>(kHexDigits) &&
                       hex.find_first_not_of("0123456789abcdef") == absl::string_view::npos;
    if (!whole) return std::nullopt;
    const std::string bytes = absl::HexStringToBytes(hex);
    Hash hash = {};
    std::copy(bytes.begin(), bytes.end(), hash.begin());
    return hash;
  }

  // A reader sees all of it or nothing.
  void Keep(const Hash& key, const Hash& hash) const {
    MakeRoom();
    const std::string path = PathOf(key);
    const std::string part = absl::StrCat(path, ".", getpid());
    const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) return;
    const std::string text = Hex(hash);
    const bool whole = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(fd);
    if (!whole || rename(part.c_str(), path.c_str()) != 0) unlink(part.c_str());
  }

 private:
  std::string PathOf(const Hash& key) const { return absl::StrCat(folder_, "/", Hex(key)); }

  // Lets the oldest go.
  void MakeRoom() const {
    std::vector<std::pair<fs::file_time_type, fs::path>> kept;
    std::error_code error;
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code gone;
      kept.emplace_back(entry->last_write_time(gone), entry->path());
    }
    if (kept.size() < kMostEntries) return;
    std::sort(kept.begin(), kept.end());
    kept.resize(kept.size() + 1 - kMostEntries);
    for (const auto& [time, path] : kept) fs::remove(path, error);
  }

  const std::string folder_;
};

bool IsSettled(const Facts& facts, int64_t now_s) {
  return facts.last_change_s + kSettledSeconds <= (now_s != 0 ? now_s : int64_t{time(nullptr)});
}

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? "" : value;
}

}  // namespace

absl::StatusOr<Hash> RememberedBundleHash(const BundleMemory& memory,
                                          const std::string& library_path,
                                          const std::string& model_path,
                                          const EngineOptions& options) {
  const std::optional<Facts> before = FactsOf(library_path, model_path, options);
  Folder kept(memory.folder);
  const bool remembers = before && before->bytes >= memory.least_bytes &&
                         IsSettled(*before, memory.now_s) && kept.Open();
  if (remembers) {
    if (const std::optional<Hash> hash = kept.Find(before->key)) return *hash;
  }
  absl::StatusOr<Hash> hash = EngineBundleHash(library_path, model_path, options);
  if (!hash.ok() || !remembers) return hash;
  const std::optional<Facts> after = FactsOf(library_path, model_path, options);
  if (after && after->key == before->key) kept.Keep(before->key, *hash);
  return hash;
}

std::string BundleMemoryFolder() {
  static constexpr char kFolder[] = "/bundle-hashes";
  if (const std::string ours = Variable("CACHE_DIRECTORY"); !ours.empty()) {
    return absl::StrCat(ours.substr(0, ours.find(':')), kFolder);  // the first, of several
  }
  if (const std::string cache = Variable("XDG_CACHE_HOME"); !cache.empty()) {
    return absl::StrCat(cache, "/superfluid", kFolder);
  }
  const std::string home = Variable("HOME");
  return home.empty() ? "" : absl::StrCat(home, "/.cache/superfluid", kFolder);
}

}  // namespace superfluid
