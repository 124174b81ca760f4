// What ends the transcriptions of the engine's actor from outside: tokens, stop words in shared
// memory, and the end of their transcribers.

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/engine/engine_actor.h"

namespace superfluid {
namespace {

// How often stop words are looked at while nothing steps.
constexpr absl::Duration kStopCheck = absl::Milliseconds(20);

}  // namespace

bool EngineActorState::StopWordIsSet(RequestKey key, uint32_t control_slot) const {
  if (control_slot == 0) return false;
  const auto link = links_.find(key.link);
  return link != links_.end() && link->second.control != nullptr &&
         link->second.control->TranscriptionStopped(control_slot - 1, key.seq);
}

// Returns whether the job's token is set; sets it if its stop word is.
bool EngineActorState::Stopped(RequestKey key, const Job& job) {
  const QueueTranscription& request = job.request;
  if (request.token->cancelled()) return true;
  if (!StopWordIsSet(key, request.control_slot)) return false;
  request.token->Cancel(CancelReason::kRequested, [this] { return Now(); });
  return true;
}

bool EngineActorState::EndIfStopped(RequestKey key) {
  if (!Stopped(key, *Find(key))) return false;
  EndJob(key, absl::CancelledError("cancelled"));
  return true;
}

void EngineActorState::EndStoppedJobs() {
  StopOpening();
  std::vector<RequestKey> stopped;
  for (const auto& [key, job] : jobs_) {
    if (Stopped(key, job)) stopped.push_back(key);
  }
  EndJobs(stopped, absl::CancelledError("cancelled"));
}

void EngineActorState::EndStopped(LinkId link) {
  EndStoppedJobs();
  for (const RequestKey& key : work_.KeysOf(link)) CancelWork(key);
}

void EngineActorState::OnWatchStopWord(const WatchStopWord& watch) {
  if (!opening_.emplace(watch.key, watch).second) return;
  self_->monitor(watch.reply_to);
  StopOpening();
  ScheduleStopCheck();
}

// Has transcriptions that are being opened end whose stop word is set.
void EngineActorState::StopOpening() {
  std::erase_if(opening_, [this](const auto& entry) {
    const auto& [key, watch] = entry;
    if (!StopWordIsSet(key, watch.control_slot)) return false;
    watch.token->Cancel(CancelReason::kRequested, [this] { return Now(); });
    compat::SendUrgent(self_, watch.reply_to, CancelTranscription{CancelReason::kRequested});
    return true;
  });
}

void EngineActorState::OnCheckStopWords() {
  stop_check_scheduled_ = false;
  EndStoppedJobs();
  ScheduleStopCheck();
}

void EngineActorState::ScheduleStopCheck() {
  const bool needed =
      !opening_.empty() || std::any_of(jobs_.begin(), jobs_.end(), [](const auto& entry) {
        return entry.second.request.control_slot != 0;
      });
  if (!needed || std::exchange(stop_check_scheduled_, true)) return;
  compat::SendAfter(self_, EngineActor(self_), kStopCheck, CheckStopWords{});
}

// The transcribers of jobs that have ended say so before they go; of any other the job would be
// paused for ever once it is out of credit.
void EngineActorState::OnTranscriberGone(const caf::actor_addr& transcriber) {
  std::erase_if(opening_,
                [&](const auto& entry) { return entry.second.reply_to.address() == transcriber; });
  const auto orphan = std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& entry) {
    return entry.second.request.reply_to.address() == transcriber;
  });
  if (orphan == jobs_.end()) return;
  orphan->second.request.token->Cancel(CancelReason::kRequested, [this] { return Now(); });
  EndJob(orphan->first, absl::CancelledError("its transcriber is gone"));
}

}  // namespace superfluid
