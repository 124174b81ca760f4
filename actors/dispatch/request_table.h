#ifndef SUPERFLUID_ACTORS_DISPATCH_REQUEST_TABLE_H_
#define SUPERFLUID_ACTORS_DISPATCH_REQUEST_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/dispatch/deadlines.h"
#include "actors/messages/engine_progress.h"
#include "actors/messages/limits.h"
#include "actors/messages/request_token.h"

namespace superfluid {

enum class RequestKind : uint8_t { kCall, kTranscription, kTick, kOp, kRelease };

// What every open request has.
struct OpenRequest {
  RequestKind kind = RequestKind::kCall;
  std::shared_ptr<RequestToken> token;  // null: a release or a buffer, which nothing stops
  int64_t deadline_ns = 0;              // monotonic; 0: none
  bool has_answer = true;  // false: a drain waits for the request, and does not count it
};

// The open requests of one link, and the only way in which a request opens, is answered and ends.
//
//   Open --> open --MarkAnswered--> answered --Finish--> gone
//               \_________________Finish_______________/
//
// An answered request takes no place of the link's limits any more, but stays until the engine has
// let go of it. Others than the owner of the table may answer: the request's token says so, and is
// looked at where it matters, when there seems to be no room and when a drain begins.
//
// Invariants:
//  1. unanswered() is the number of requests between Open and MarkAnswered or Finish.
//  2. A deadline is kept exactly as long as its request.
//  3. At most 2 * max_open requests other than releases are in the table, if HasRoom() is asked
//     before each Open: a peer cannot fill the engine's mailbox with requests that it cancels.
//  4. EngineProgress counts unanswered() requests of this table as open.
//
// `Details`: what the owner of the table notes of a request. Threads: one.
template <class Details>
class RequestTable {
 public:
  struct Entry : OpenRequest {
    Details details;
    bool answered = false;  // as far as the table knows
    bool in_drain = false;  // the drain that is under way counts it

    bool IsAnswered() const { return answered || (token != nullptr && token->answered()); }
  };

  // `progress` may be null.
  explicit RequestTable(const LinkLimits& limits,
                        std::shared_ptr<EngineProgress> progress = nullptr)
      : limits_(limits), progress_(std::move(progress)) {}
  RequestTable(const RequestTable&) = delete;
  RequestTable& operator=(const RequestTable&) = delete;
  ~RequestTable() { Publish(-static_cast<int>(unanswered())); }

  // Adds a request. Returns false, and adds nothing, if one with this number is open. A release
  // counts as answered from the start: it has no answer.
  bool Open(uint64_t seq, OpenRequest request, Details details = {}) {
    const auto [it, added] =
        entries_.try_emplace(seq, Entry{std::move(request), std::move(details)});
    if (!added) return false;
    const Entry& entry = it->second;
    CountUnanswered(entry.kind, 1);
    if (entry.kind == RequestKind::kRelease) {
      ++releases_;
      MarkAnswered(seq);
    }
    if (entry.deadline_ns != 0) deadlines_.Add(seq, entry.deadline_ns);
    return true;
  }

  // Returns the open request with this number, or null. Valid until the request is finished.
  Entry* Find(uint64_t seq) {
    const auto it = entries_.find(seq);
    return it == entries_.end() ? nullptr : &it->second;
  }

  // Frees the request's place: its final answer is on its way. Has no effect on a request that is
  // answered or gone.
  void MarkAnswered(uint64_t seq) {
    Entry* const entry = Find(seq);
    if (entry == nullptr || std::exchange(entry->answered, true)) return;
    CountUnanswered(entry->kind, -1);
    ++answered_;
  }

  // Removes and returns a request; nullopt if it is not open.
  std::optional<Entry> Finish(uint64_t seq) {
    const auto it = entries_.find(seq);
    if (it == entries_.end()) return std::nullopt;
    Entry entry = std::move(it->second);
    entries_.erase(it);
    deadlines_.Remove(seq);
    if (entry.answered) {
      --answered_;
    } else {
      CountUnanswered(entry.kind, -1);
    }
    if (entry.kind == RequestKind::kRelease) --releases_;
    return entry;
  }

  // Returns whether the link may open one more request.
  bool HasRoom() {
    if (unanswered() >= limits_.max_open_requests) NoteAnswered();
    const size_t most = limits_.max_open_requests;
    return unanswered() < most && size() - releases_ < 2 * most;
  }

  bool HasRoomForTranscription() {
    const size_t& open = unanswered_[Index(RequestKind::kTranscription)];
    if (open >= limits_.max_transcriptions) NoteAnswered();
    return open < limits_.max_transcriptions;
  }

  // Returns whether the frames of releases may go on without holding their credit.
  bool HasRoomForReleases() const { return releases_ <= limits_.max_releases; }

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  size_t unanswered() const { return size() - answered_; }

  // Marks the requests that a drain which begins now has to count, those that wait for an answer,
  // and returns how many there are.
  size_t MarkForDrain() {
    NoteAnswered();
    size_t count = 0;
    for (auto& [seq, entry] : entries_) {
      entry.in_drain = entry.has_answer && !entry.answered;
      count += entry.in_drain ? 1 : 0;
    }
    return count;
  }

  // Calls `visit(seq, entry)` for each request, the oldest first. `visit` may mark requests as
  // answered. REQUIRES: it opens and finishes none.
  template <class Visit>
  void ForEach(Visit visit) {
    for (auto& [seq, entry] : entries_) visit(seq, entry);
  }

  // Returns the numbers of all requests, the oldest first: to visit them where some may end.
  std::vector<uint64_t> Numbers() const {
    std::vector<uint64_t> numbers;
    numbers.reserve(entries_.size());
    for (const auto& [seq, entry] : entries_) numbers.push_back(seq);
    return numbers;
  }

  // Returns the requests whose deadline is not after `now_ns`, each once. They stay open.
  std::vector<uint64_t> TakeOverdue(int64_t now_ns) {
    deadlines_.TimerFired();
    return deadlines_.TakePassed(now_ns);
  }

  // Returns the time that the alarm has to be set to, if it is not set to that or an earlier one.
  std::optional<int64_t> NextAlarm() { return deadlines_.NextTimer(); }

 private:
  static constexpr size_t kKinds = 5;
  static size_t Index(RequestKind kind) { return static_cast<size_t>(kind); }

  // Takes over from the tokens which requests were answered.
  void NoteAnswered() {
    for (auto& [seq, entry] : entries_) {
      if (!entry.answered && entry.IsAnswered()) MarkAnswered(seq);
    }
  }

  void CountUnanswered(RequestKind kind, int change) {
    unanswered_[Index(kind)] += static_cast<size_t>(change);
    Publish(change);
  }
  void Publish(int change) {
    if (progress_ != nullptr && change != 0) progress_->AddOpenRequests(change);
  }

  const LinkLimits limits_;
  const std::shared_ptr<EngineProgress> progress_;
  std::map<uint64_t, Entry> entries_;
  Deadlines deadlines_;
  size_t unanswered_[kKinds] = {};
  size_t answered_ = 0;
  size_t releases_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_REQUEST_TABLE_H_
