#include "tests/stress/tally.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace superfluid::stress {
namespace {

constexpr size_t kFailuresKept = 20;

// Of sorted times, at least one.
absl::Duration Quantile(const std::vector<absl::Duration>& sorted, double quantile) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(last * quantile)];
}

}  // namespace

void Tally::Count(std::string_view what, uint64_t times) {
  const absl::MutexLock lock(&mutex_);
  counts_[std::string(what)] += times;
}

void Tally::Time(std::string_view what, absl::Duration latency) {
  const absl::MutexLock lock(&mutex_);
  times_[std::string(what)].push_back(latency);
}

void Tally::Fail(std::string message) {
  const absl::MutexLock lock(&mutex_);
  ++failed_;
  if (failures_.size() >= kFailuresKept) return;
  std::fprintf(stderr, "FAILED: %s\n", message.c_str());
  failures_.push_back(std::move(message));
}

bool Tally::failed() const {
  const absl::MutexLock lock(&mutex_);
  return failed_ > 0;
}

uint64_t Tally::Of(std::string_view what) const {
  const absl::MutexLock lock(&mutex_);
  const auto it = counts_.find(what);
  return it == counts_.end() ? 0 : it->second;
}

void Tally::Require(const std::vector<std::string>& outcomes) {
  for (const std::string& outcome : outcomes) {
    if (Of(outcome) == 0) Fail(absl::StrCat("never happened: ", outcome));
  }
}

std::string Tally::Progress() const {
  const absl::MutexLock lock(&mutex_);
  std::map<std::string, uint64_t> groups;
  for (const auto& [name, count] : counts_) groups[name.substr(0, name.find('.'))] += count;
  std::string line;
  for (const auto& [group, count] : groups) {
    absl::StrAppend(&line, line.empty() ? "" : ", ", group, " ", count);
  }
  return absl::StrCat(line, ", failures ", failed_);
}

std::string Tally::Summary() const {
  const absl::MutexLock lock(&mutex_);
  std::string text = "\noutcome                              count\n";
  for (const auto& [name, count] : counts_)
    absl::StrAppendFormat(&text, "%-32s %9d\n", name, count);
  text += "\nlatency in ms                        count    median       p99      most\n";
  for (const auto& [name, times] : times_) {
    std::vector<absl::Duration> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    absl::StrAppendFormat(&text, "%-32s %9d %9.2f %9.2f %9.2f\n", name, sorted.size(),
                          absl::ToDoubleMilliseconds(Quantile(sorted, 0.5)),
                          absl::ToDoubleMilliseconds(Quantile(sorted, 0.99)),
                          absl::ToDoubleMilliseconds(sorted.back()));
  }
  absl::StrAppend(&text, "\nfailures: ", failed_, "\n");
  for (const std::string& failure : failures_) absl::StrAppend(&text, "  ", failure, "\n");
  return text;
}

}  // namespace superfluid::stress
