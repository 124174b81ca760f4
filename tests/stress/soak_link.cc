#include "tests/stress/soak_link.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "protocol/messages/status.h"

namespace superfluid::stress {
namespace {

constexpr size_t kBuried = 128;
constexpr absl::Duration kLook = absl::Milliseconds(50);  // how often a wait looks up

// A worker tells a second driver BUSY after a moment: the last one's work may not be cleaned up.
absl::StatusOr<std::unique_ptr<linkw::LinkClient>> ConnectWhenFree(const std::string& socket) {
  linkw::LinkClientOptions options;
  options.client_name = "soak";
  options.call_timeout = kPatience;
  options.connect_timeout = kPatience;
  options.wait_for_listener = true;
  const absl::Time until = absl::Now() + kPatience;
  while (true) {
    auto client = linkw::LinkClient::Connect(socket, options);
    const bool busy = !client.ok() && linkw::FromAbsl(client.status()) == linkw::Status::kBusy;
    if (!busy || absl::Now() > until) return client;
  }
}

}  // namespace

SoakLink::SoakLink(std::unique_ptr<linkw::LinkClient> client, Tally& tally)
    : tally_(tally),
      client_(std::move(client)),
      facts_(conformance::ReadFacts(client_->hello_ack())) {}

absl::StatusOr<std::unique_ptr<SoakLink>> SoakLink::Open(const std::string& socket, Tally& tally) {
  auto client = ConnectWhenFree(socket);
  if (!client.ok()) return client.status();
  std::unique_ptr<SoakLink> link(new SoakLink(*std::move(client), tally));
  if (link->Has("tick")) {
    auto rings = linkw::DriverRings::Attach(*link->client_);
    if (!rings.ok()) return rings.status();
    link->rings_ = *std::move(rings);
  }
  auto buffers = linkw::DriverBuffers::Open(*link->client_, kPatience);
  if (!buffers.ok()) return buffers.status();
  link->buffers_ = *std::move(buffers);
  return link;
}

void SoakLink::Stop(Ending ending) {
  if (ending == Ending::kKill) killed_ = true;
  stop_.Notify();
}

void SoakLink::End() {
  if (client_ == nullptr) return;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& stream : buried_) CheckBuried(*stream);
    buried_.clear();
  }
  buffers_.reset();
  client_.reset();
  const absl::MutexLock lock(&mutex_);
  left_.clear();
}

void SoakLink::CheckLink(const absl::Status& status) {
  if (linkw::FromAbsl(status) == linkw::Status::kLinkClosed ||
      status.code() == absl::StatusCode::kDeadlineExceeded) {
    if (!killed_) tally_.Fail(absl::StrCat("the link: ", status.ToString()));
  }
}

std::unique_ptr<linkw::ReplyStream> SoakLink::Start(const linkw::DriverMessage& message) {
  auto stream = client_->Start(message);
  if (stream.ok()) return *std::move(stream);
  if (!killed_) tally_.Fail(absl::StrCat("a request: ", stream.status().ToString()));
  return nullptr;
}

bool SoakLink::Send(const linkw::DriverMessage& message) {
  const auto sent = client_->Send(message);
  if (!sent.ok() && !killed_) {
    tally_.Fail(absl::StrCat("a message: ", sent.status().ToString()));
  }
  return sent.ok();
}

std::optional<linkw::WorkerMessage> SoakLink::Await(linkw::ReplyStream& stream, absl::Time until) {
  const absl::Time patience = absl::Now() + kPatience;
  while (!killed_) {
    auto answer = stream.Next(std::min(until, absl::Now() + kLook));
    if (answer.ok()) return *std::move(answer);
    if (answer.status().code() != absl::StatusCode::kDeadlineExceeded) {
      if (!killed_) tally_.Fail(absl::StrCat("an answer: ", answer.status().ToString()));
      return std::nullopt;
    }
    const absl::Time now = absl::Now();
    if (now >= until) return std::nullopt;
    if (now >= patience) {
      tally_.Fail(absl::StrCat("no answer to request ", stream.request_seq()));
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void SoakLink::CheckBuried(linkw::ReplyStream& stream) {
  const auto more = stream.Next(absl::InfinitePast());
  if (more.ok()) {
    tally_.Fail(absl::StrCat("a second final answer to request ", stream.request_seq()));
  }
}

void SoakLink::Bury(std::unique_ptr<linkw::ReplyStream> stream) {
  const absl::MutexLock lock(&mutex_);
  buried_.push_back(std::move(stream));
  if (buried_.size() <= kBuried) return;
  CheckBuried(*buried_.front());
  buried_.pop_front();
}

void SoakLink::Leave(std::unique_ptr<linkw::ReplyStream> stream) {
  const absl::MutexLock lock(&mutex_);
  left_.push_back(std::move(stream));
}

}  // namespace superfluid::stress
