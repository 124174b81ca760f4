#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_WORKER_TABLE_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_WORKER_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace superfluid::daemon {

// The workers that can be given work, and their free places. `Key` says which process it is, `Link`
// how it is reached. A plain class; threads: one.
template <class Key, class Link>
class WorkerTable {
 public:
  struct Worker {
    std::string name;
    std::string model;
    uint32_t places = 1;
    uint32_t active = 0;
    bool healthy = true;
    Link link;
  };

  void Add(const Key& key, Worker worker) { workers_.insert_or_assign(key, std::move(worker)); }
  void Remove(const Key& key) { workers_.erase(key); }

  Worker* Find(const Key& key) {
    const auto found = workers_.find(key);
    return found == workers_.end() ? nullptr : &found->second;
  }

  // Returns the worker with the least share of its places taken that serves `model` and has one
  // free; nullopt if there is none.
  std::optional<Key> Choose(const std::string& model) const {
    std::optional<Key> best;
    double best_load = 0;
    for (const auto& [key, worker] : workers_) {
      if (!worker.healthy || worker.model != model || worker.active >= worker.places) continue;
      const double load = static_cast<double>(worker.active) / worker.places;
      if (best.has_value() && load >= best_load) continue;
      best = key;
      best_load = load;
    }
    return best;
  }

  bool CanServe(const std::string& model) const { return Choose(model).has_value(); }

  // Returns the places of all healthy workers.
  uint32_t places() const {
    uint32_t places = 0;
    for (const auto& [key, worker] : workers_) places += worker.healthy ? worker.places : 0;
    return places;
  }
  size_t healthy() const {
    size_t count = 0;
    for (const auto& [key, worker] : workers_) count += worker.healthy ? 1 : 0;
    return count;
  }

 private:
  std::map<Key, Worker> workers_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_WORKER_TABLE_H_
