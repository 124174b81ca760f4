#include "tools/worker/model_watch.h"

#include <fcntl.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "actors/runtime/printable.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

constexpr std::chrono::seconds kPeriod{1};
constexpr size_t kMostFiles = 256;

bool SameContent(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

ModelFiles::ModelFiles(const EngineConfig& config) {
  std::error_code error;
  if (std::filesystem::is_directory(config.model_path, error)) {
    for (const auto& entry : std::filesystem::directory_iterator(config.model_path, error)) {
      Add(entry.path().string());
    }
  } else {
    Add(config.model_path);
  }
  for (const auto& [key, value] : config.options) Add(value);
}

void ModelFiles::Add(const std::string& path) {
  std::error_code error;
  if (files_.size() >= kMostFiles || !std::filesystem::is_regular_file(path, error)) return;
  File file{.name = path, .fd = OwnedFd(open(path.c_str(), O_PATH | O_CLOEXEC)), .seen = {}};
  if (file.fd.valid() && fstat(file.fd.get(), &file.seen) == 0) files_.push_back(std::move(file));
}

std::vector<std::string> ModelFiles::TakeChanged() {
  std::vector<std::string> changed;
  for (File& file : files_) {
    struct stat now {};
    if (fstat(file.fd.get(), &now) != 0 || SameContent(file.seen, now)) continue;
    file.seen = now;
    changed.push_back(file.name);
  }
  return changed;
}

ModelWatch::ModelWatch(ModelFiles files) : files_(std::move(files)) {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    spdlog::warn("model.not_watched reason=\"{}\"", error.what());
  }
}

ModelWatch::~ModelWatch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ModelWatch::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_.wait_for(lock, kPeriod, [this] { return end_; })) {
    lock.unlock();
    for (const std::string& name : files_.TakeChanged()) {
      spdlog::error(
          "model.changed file=\"{}\" reason=\"the file was written to while it is loaded: what is "
          "computed from now on may be wrong, and a file cut short ends the process; restart the "
          "worker, and replace models by renaming another file over them\"",
          Printable(name));
    }
    lock.lock();
  }
}

}  // namespace superfluid
