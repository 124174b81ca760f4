// The worker's links: who gets a place and a role.

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "actors/link/last_word.h"
#include "actors/runtime/printable.h"
#include "actors/supervision/supervisor.h"
#include "protocol/messages/status.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

// How long a second driver waits for the first to go before it is refused.
constexpr absl::Duration kClaimGrace = absl::Milliseconds(250);

absl::Status DrivenByAnother() {
  return linkw::MakeStatus(linkw::Status::kBusy, "another link drives this worker");
}

}  // namespace

void SupervisorState::OnFrames(const FramesConnected& connected) {
  if (shutting_down_ || exit_with_) {
    return RefuseLink(*connected.stream, linkw::Status::kDraining, "the worker is shutting down");
  }
  const LinkId id{++last_link_};
  try {
    StartLink(id, connected);
  } catch (const std::bad_alloc&) {
    links_.erase(id);
    const std::string reason = "the worker has no memory left for another link";
    spdlog::warn("link.refused reason=\"{}\"", reason);
    RefuseLink(*connected.stream, linkw::Status::kBusy, reason);
  }
}

void SupervisorState::StartLink(LinkId id, const FramesConnected& connected) {
  Link& link = links_[id];
  link.inherited = connected.inherited;
  link.stream = connected.stream;
  link.watch = connected.watch;
  link.channel = connected.descriptors;
  link.peer_pid = connected.peer_pid;
  if (!connected.inherited && connected.descriptors == nullptr) link.token = config_.make_token();
  link.last_heard_ns = std::make_shared<std::atomic<int64_t>>(compat::NowNs(self_));
  DispatcherContext context = ContextOf(id, link);
  const compat::Placement placement = context.placement;
  link.dispatcher = compat::Spawn(*self_, placement, DispatcherBehavior, std::move(context));
  self_->monitor(link.dispatcher);
  if (const std::optional<LinkId> oldest = places_->AddNew(id)) {
    LetGo(*oldest, "another link was made before this one's HELLO was accepted");
  }
}

// Between the hosted threads, once it drives.
compat::Placement SupervisorState::OfLink(const Link& link) const {
  if (config_.threads == nullptr || link.watch == nullptr) return OnLinkThread();
  return compat::Placement::Hosted({.thread = &config_.threads->link(),
                                    .other = &config_.threads->engine(),
                                    .floats = link.watch->floats()});
}

// The engine's thread reads the driver's socket itself while it is idle.
std::function<void()> SupervisorState::WhenItDrives(const Link& link) const {
  if (config_.threads == nullptr || link.watch == nullptr) return nullptr;
  return [threads = config_.threads, watch = link.watch] { watch->FloatTo(threads->engine()); };
}

DispatcherContext SupervisorState::ContextOf(LinkId id, const Link& link) {
  return {
      .id = id,
      .token = link.token,
      .stream = link.stream,
      .on_drive = WhenItDrives(link),
      .descriptors = link.channel,
      .engine = engine_,
      .supervisor = Supervisor(self_),
      .alarms = alarms_,
      .last_heard_ns = link.last_heard_ns,
      .progress = progress_,
      .presence = presence_,
      .loaded = loaded_,
      .media_root = config_.media_root,
      .readers = config_.readers,
      .file_copies = file_copies_,
      .audio_copies = audio_copies_,
      .model_root = config_.model_root,
      .limits = config_.limits,
      .inherited = link.inherited,
      .reset_engine_at_end = config_.on_disconnect == OnDisconnect::kReset,
      .placement = OfLink(link),
      .fds_placement = OnLinkThread(),
  };
}

// One ERROR frame, as much of it as the socket takes at once, and the end: nobody is waited for. It
// answers the peer's first frame. REQUIRES: nobody else writes to the stream.
void SupervisorState::RefuseLink(ByteStream& stream, linkw::Status status,
                                 const std::string& reason) {
  const std::string frame = LastWord(status, reason, /*correlation=*/1);
  const std::string_view piece = frame;
  (void)stream.Write(absl::MakeConstSpan(&piece, 1));
  stream.Shutdown();
}

// Ends a link whose place somebody else gets.
void SupervisorState::LetGo(LinkId id, const std::string& reason) {
  const auto it = links_.find(id);
  if (it == links_.end()) return;
  compat::Send(self_, it->second.dispatcher, EndLink{linkw::Status::kBusy, reason});
}

void SupervisorState::OnDescriptors(const DescriptorsConnected& connected) {
  for (auto& [id, link] : links_) {
    if (link.token == linkw::LinkToken{} || link.token != connected.token) continue;
    if (link.channel == nullptr) link.channel = connected.channel;
    compat::Send(self_, link.dispatcher, DescriptorChannelOpened{connected.channel});
    return;
  }
  spdlog::warn("fds.refused reason=\"no link has this token\"");
  connected.channel->Shutdown();
}

caf::typed_response_promise<RoleClaimed> SupervisorState::OnClaim(const ClaimRole& claim) {
  auto promise = self_->make_response_promise<caf::typed_response_promise<RoleClaimed>>();
  auto answer = std::make_shared<ReplyGuard<RoleClaimed>>(promise);
  if (claim.role == linkw::Role::kDriver) {
    ClaimDriver(claim.link, std::move(answer));
  } else {
    ClaimObserver(claim.link, *answer);
  }
  return promise;
}

void SupervisorState::ClaimDriver(LinkId link, ClaimAnswer answer) {
  places_->BecomeDriver(link);
  if (!driver_) {
    SetDriver(link);
    return answer->Answer(RoleClaimed{absl::OkStatus()});
  }
  if (waiting_claims_.size() >= kMaxRoleClaims)
    return answer->Answer(RoleClaimed{DrivenByAnother()});
  waiting_claims_.push_back({.link = link, .answer = std::move(answer)});
  compat::SendAfter(self_, Supervisor(self_), kClaimGrace, ClaimOverdue{link});
}

void SupervisorState::ClaimObserver(LinkId link, ReplyGuard<RoleClaimed>& answer) {
  const LinkPlaces::Admitted admitted =
      places_->BecomeObserver(link, compat::NowNs(self_), [this](LinkId observer) {
        const auto it = links_.find(observer);
        return it == links_.end() ? 0 : it->second.last_heard_ns->load(std::memory_order_relaxed);
      });
  if (admitted.gives_way) {
    LetGo(*admitted.gives_way,
          "there are as many observers as may be, and of them this one was silent longest");
  }
  presence_->SetObservers(places_->observers());
  answer.Answer(RoleClaimed{
      admitted.admitted ? absl::OkStatus()
                        : linkw::MakeStatus(linkw::Status::kBusy,
                                            absl::StrCat("the worker has ", places_->observers(),
                                                         " observers, the most it may"))});
}

void SupervisorState::OnClaimOverdue(LinkId link) {
  const auto it = std::find_if(waiting_claims_.begin(), waiting_claims_.end(),
                               [link](const Claim& claim) { return claim.link == link; });
  if (it == waiting_claims_.end()) return;
  it->overdue = true;
  if (!driver_ending_) RefuseOverdueClaims();
}

void SupervisorState::RefuseOverdueClaims() {
  std::erase_if(waiting_claims_, [](const Claim& claim) {
    if (claim.overdue) claim.answer->Answer(RoleClaimed{DrivenByAnother()});
    return claim.overdue;
  });
}

void SupervisorState::OnLinkEnding(LinkId link) {
  places_->Remove(link);
  presence_->SetObservers(places_->observers());
  if (driver_ == link) driver_ending_ = true;
  std::erase_if(waiting_claims_, [link](const Claim& claim) { return claim.link == link; });
}

void SupervisorState::OnLinkEnded(const LinkEnded& ended) {
  drain_finished_ += ended.finished;
  drain_cancelled_ += ended.cancelled;
  drain_cut_ |= ended.cut;
  ForgetLink(ended.link, ended.reason);
}

void SupervisorState::ForgetLink(LinkId id, const std::string& reason) {
  auto node = links_.extract(id);
  if (node.empty()) return;
  std::erase_if(waiting_claims_, [id](const Claim& claim) { return claim.link == id; });
  places_->Remove(id);
  presence_->SetObservers(places_->observers());
  const bool drove = driver_ == id;
  if (drove) FreeDriver();
  const bool exits =
      node.mapped().inherited || (drove && config_.on_disconnect == OnDisconnect::kExit);
  if (exits && !exit_with_) {
    exit_with_ = {ExitCode::kOk, absl::StrCat("the link ended: ", reason)};
    for (const auto& [other, link] : links_) {
      compat::Send(self_, link.dispatcher,
                   EndLink{linkw::Status::kDraining, "the worker is shutting down"});
    }
  }
  DrainLastLink();
  ExitIfDone();
}

void SupervisorState::SetDriver(LinkId link) {
  driver_ = link;
  const auto it = links_.find(link);
  presence_->SetDriver(it == links_.end() ? 0 : it->second.peer_pid, compat::NowNs(self_));
}

void SupervisorState::FreeDriver() {
  driver_.reset();
  presence_->SetDriver(0, 0);
  driver_ending_ = false;
  if (waiting_claims_.empty()) return;
  Claim next = std::move(waiting_claims_.front());
  waiting_claims_.pop_front();
  SetDriver(next.link);
  next.answer->Answer(RoleClaimed{absl::OkStatus()});
  RefuseOverdueClaims();
}

}  // namespace superfluid
