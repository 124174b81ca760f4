#include "tools/superfluidd/fleet/fleet.h"

#include <atomic>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "caf/actor_system.hpp"
#include "caf/actor_system_config.hpp"
#include "tools/superfluidd/fleet/decode_desk.h"
#include "tools/superfluidd/fleet/fleet_messages.h"
#include "tools/superfluidd/fleet/fleet_supervisor.h"
#include "tools/superfluidd/fleet/request_actor.h"
#include "tools/superfluidd/fleet/scheduler.h"

namespace superfluid::daemon {
namespace {

constexpr size_t kPoolThreads = 2;

class ActorHandle final : public RequestHandle {
 public:
  explicit ActorHandle(const RequestActor& actor) : actor_(actor) {}

  void Cancel(CancelCause cause) override {
    compat::SendFromOutside(actor_.Lock(), CancelRequest{cause});
  }
  void PushAudio(std::string samples, bool end) override {
    compat::SendFromOutside(
        actor_.Lock(), PushSamples{std::make_shared<const std::string>(std::move(samples)), end});
  }

 private:
  compat::Weak<RequestActor> actor_;
};

std::vector<WorkerSpec> SpecsOf(const std::vector<FleetWorker>& workers) {
  std::vector<WorkerSpec> specs;
  for (const FleetWorker& worker : workers) {
    WorkerSpec& spec = specs.emplace_back();
    spec.name = absl::StrCat("worker-", specs.size() - 1);
    spec.model = worker.model;
    spec.command = worker.command;
    spec.command.arguments.insert(spec.command.arguments.end(), {"--log-name", spec.name});
    spec.places = worker.places;
  }
  return specs;
}

std::set<std::string> ModelsOf(const std::vector<FleetWorker>& workers) {
  std::set<std::string> models;
  for (const FleetWorker& worker : workers) models.insert(worker.model);
  return models;
}

caf::actor_system_config MakeConfig() {
  caf::actor_system_config config;
  compat::UseSharingScheduler(config, kPoolThreads);
  return config;
}

}  // namespace

std::string_view CancelCauseName(CancelCause cause) {
  switch (cause) {
    case CancelCause::kHangUp:
      return "hang-up";
    case CancelCause::kDeleted:
      return "deleted";
    case CancelCause::kDeadline:
      return "deadline";
    case CancelCause::kShutDown:
      return "shut down";
  }
  return "unknown";
}

class Fleet::Impl {
 public:
  explicit Impl(const FleetOptions& options)
      : system(config),
        scheduler(compat::Spawn(
            system, compat::Placement::kPooled, SchedulerBehavior,
            SchedulerConfig{.queue = {.waiting = options.max_waiting,
                                      .waiting_of_tenant = options.max_waiting_of_tenant},
                            .models = ModelsOf(options.workers),
                            .workers = options.workers.size(),
                            .board = board})),
        supervisor(compat::Spawn(
            system, compat::Placement::kPooled, FleetSupervisorBehavior,
            FleetConfig{
                .workers = SpecsOf(options.workers), .scheduler = scheduler, .log = options.log})),
        desk(compat::Spawn(system, compat::Placement::kDetached, DecodeDeskBehavior,
                           DecodeDeskConfig{.decoder = options.decoder})) {}

  caf::actor_system_config config = MakeConfig();
  std::shared_ptr<SummaryBoard> board = std::make_shared<SummaryBoard>();
  caf::actor_system system;
  Scheduler scheduler;
  FleetSupervisor supervisor;
  DecodeDesk desk;
  std::atomic<uint64_t> next_number{1};
};

Fleet::Fleet(const FleetOptions& options) : impl_(std::make_unique<Impl>(options)) {}

// They send themselves messages for ever.
Fleet::~Fleet() {
  caf::anon_send_exit(impl_->desk, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(impl_->supervisor, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(impl_->scheduler, caf::exit_reason::user_shutdown);
}

void Fleet::Start() { compat::SendFromOutside(impl_->supervisor, StartFleet{}); }

std::unique_ptr<RequestHandle> Fleet::Submit(SpeechRequest request,
                                             std::shared_ptr<RequestListener> listener) {
  RequestActor actor = compat::Spawn(
      impl_->system, compat::Placement::kPooled, RequestActorBehavior,
      RequestContext{.number = RequestNumber{impl_->next_number++},
                     .request = std::make_shared<const SpeechRequest>(std::move(request)),
                     .listener = std::move(listener),
                     .scheduler = impl_->scheduler,
                     .desk = impl_->desk});
  compat::SendFromOutside(actor, BeginRequest{});
  return std::make_unique<ActorHandle>(actor);
}

void Fleet::CancelById(std::string id, std::string tenant, CancelCause cause,
                       std::function<void(bool found)> done) {
  compat::SendFromOutside(
      impl_->scheduler,
      superfluid::daemon::CancelById{std::move(id), std::move(tenant), cause, std::move(done)});
}

void Fleet::Describe(std::function<void(FleetView)> done) {
  compat::SendFromOutside(
      impl_->supervisor,
      DescribeFleet{.view = std::make_shared<FleetView>(),
                    .done = [done = std::move(done)](const std::shared_ptr<FleetView>& view) {
                      done(*view);
                    }});
}

FleetSummary Fleet::Summary() const { return impl_->board->Get(); }

void Fleet::Drain(std::function<void()> done) {
  compat::SendFromOutside(impl_->scheduler, DrainFleet{std::move(done)});
}

void Fleet::CancelAll() {
  compat::SendFromOutside(impl_->scheduler, superfluid::daemon::CancelAll{CancelCause::kShutDown});
}

void Fleet::Replace(const std::vector<FleetWorker>& workers) {
  compat::SendFromOutside(impl_->scheduler, ServeModels{ModelsOf(workers)});
  compat::SendFromOutside(
      impl_->supervisor,
      ReplaceWorkers{std::make_shared<const std::vector<WorkerSpec>>(SpecsOf(workers))});
}

void Fleet::Stop(absl::Duration patience, std::function<void()> done) {
  compat::SendFromOutside(impl_->supervisor, StopFleet{patience, std::move(done)});
}

}  // namespace superfluid::daemon
