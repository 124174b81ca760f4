#ifndef SUPERFLUID_TOOLS_WORKER_MODEL_WATCH_H_
#define SUPERFLUID_TOOLS_WORKER_MODEL_WATCH_H_

#include <sys/stat.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "shm/owned_fd.h"

namespace superfluid {

// The files of a model as they were when this was made. An engine maps them into memory or reads
// them again, so one that is written over, or cut short, changes what is computed, or ends the
// process with SIGBUS. A file that is replaced (renamed over, or removed) is no change: the engine
// keeps the one that it opened.
//
// Threads: one.
class ModelFiles {
 public:
  // Takes the file at `config.model_path`, or the files of that folder, and those that options
  // name.
  explicit ModelFiles(const EngineConfig& config);

  // Returns the names of the files that have changed in place since they were last looked at.
  std::vector<std::string> TakeChanged();

  size_t size() const { return files_.size(); }

 private:
  struct File {
    std::string name;
    OwnedFd fd;
    struct stat seen {};
  };
  void Add(const std::string& path);

  std::vector<File> files_;
};

// Looks at the files once a second, on a thread of its own (a file on a network may keep it
// waiting), and logs each change.
class ModelWatch {
 public:
  explicit ModelWatch(ModelFiles files);
  ModelWatch(const ModelWatch&) = delete;
  ModelWatch& operator=(const ModelWatch&) = delete;
  ~ModelWatch();

 private:
  void Run();

  ModelFiles files_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_MODEL_WATCH_H_
