#include "tests/stress/op_load.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "protocol/messages/status.h"
#include "tests/conformance/show.h"

namespace superfluid::stress {
namespace {

using linkw::Status;

constexpr uint64_t kEnvelopeBytes = 160;
constexpr uint64_t kTag = 900'000;  // of its lanes

class OpLoad {
 public:
  OpLoad(SoakLink& link, const References& references, uint64_t seed)
      : link_(link), references_(references), random_(seed) {}

  void Run() {
    while (!link_.stopping() && RoundTrip()) {
      (void)link_.Pause(absl::Milliseconds(random_() % 20));
    }
  }

 private:
  using Buffers = std::map<linkw::SpaceId, linkw::DriverBuffer>;

  uint32_t Any(uint64_t below) { return static_cast<uint32_t>(random_() % below); }

  // False, as all of the methods below: the link was killed, or something was wrong (and said).
  bool Wrong(const std::string& what) {
    if (!link_.killed()) link_.tally().Fail(what);
    return false;
  }

  // A tick of one lane that appends tokens [from, to) of the text and then draws.
  std::optional<linkw::TickPlan> Plan(const DrawReference& reference, linkw::SequenceId sequence,
                                      uint64_t from, uint64_t to, uint32_t draw) {
    const auto span = link_.rings().WriteTokens(reference.Text(from, to));
    if (!span.ok()) {
      Wrong(absl::StrCat("input: ", span.status().ToString()));
      return std::nullopt;
    }
    linkw::TickPlan plan{.tick_id = ++last_tick_};
    plan.lanes.push_back({.lane_tag = linkw::LaneTag{kTag},
                          .sequence = sequence,
                          .input = *span,
                          .max_tokens = draw,
                          .sampling = reference.sampling});
    return plan;
  }

  // The lane's event, once its output was found right.
  std::optional<linkw::LaneEvent> Checked(const DrawReference& reference,
                                          const std::optional<linkw::TickResult>& result) {
    if (!result) return std::nullopt;
    if (result->status != Status::kOk || result->events.lanes.size() != 1 ||
        result->events.lanes[0].status != Status::kOk) {
      const bool lane = result->events.lanes.size() == 1;
      Wrong(absl::StrCat("a tick between ops: ", conformance::Show(result->status), " ",
                         result->message, lane ? result->events.lanes[0].message : ""));
      return std::nullopt;
    }
    const linkw::LaneEvent& event = result->events.lanes[0];
    const auto tokens = link_.rings().ReadTokens(event.out);
    if (!tokens.ok() ||
        *tokens != reference.Text(event.position - tokens->size(), event.position)) {
      Wrong("a sequence that ops touched drew something else");
      return std::nullopt;
    }
    return event;
  }

  std::optional<linkw::LaneEvent> Tick(const DrawReference& reference, linkw::SequenceId sequence,
                                       uint64_t from, uint64_t to, uint32_t draw) {
    const auto plan = Plan(reference, sequence, from, to, draw);
    if (!plan) return std::nullopt;
    return Checked(reference, RunTick(link_, *plan));
  }

  // The op's end; nullopt: see Wrong. `cancel`: as soon as it was accepted.
  std::optional<linkw::StateOpDone> RunOp(const linkw::StateOp& op, bool cancel) {
    auto stream = link_.Start(linkw::StateOpSubmit{op});
    absl::Time cancelled;
    while (stream != nullptr) {
      auto answer = link_.Await(*stream);
      if (!answer) {
        link_.Leave(std::move(stream));
        return std::nullopt;
      }
      if (const auto* done = std::get_if<linkw::StateOpDone>(&*answer)) {
        link_.Bury(std::move(stream));
        CountEnd(*done, cancel, absl::Now() - cancelled);
        return *done;
      }
      const auto* accepted = std::get_if<linkw::StateOpAccepted>(&*answer);
      if (accepted == nullptr || accepted->status != Status::kOk) {
        link_.Bury(std::move(stream));
        Wrong(absl::StrCat("an op was refused: ", accepted != nullptr ? accepted->message : ""));
        return std::nullopt;
      }
      cancelled = absl::Now();
      if (cancel) (void)link_.Send(linkw::OpCancel{accepted->op_handle});
    }
    return std::nullopt;
  }

  void CountEnd(const linkw::StateOpDone& done, bool cancel, absl::Duration latency) {
    if (!cancel && done.state == linkw::OpState::kDone) return link_.tally().Count("op.done");
    if (!cancel || done.state == linkw::OpState::kFailed) {
      Wrong(absl::StrCat("an op: ", conformance::Show(done.error), " ", done.message));
      return;
    }
    const bool late = done.state == linkw::OpState::kDone;
    link_.tally().Count(late ? "op.cancelled_late" : "op.cancelled");
    link_.tally().Time("op.cancel", latency);
  }

  // The largest position at which every space can be exported.
  std::optional<uint64_t> CommonBoundary(linkw::SequenceId sequence, uint64_t cap) {
    while (true) {
      uint64_t common = cap;
      for (const auto& space : link_.client().hello_ack().state_space_descriptors) {
        const auto boundary = link_.Call<linkw::SnapshotBoundaryResult>(linkw::SnapshotBoundary{
            .sequence = sequence, .space_id = space.space_id, .cap = common});
        if (!boundary.ok()) {
          Wrong(absl::StrCat("a boundary: ", boundary.status().ToString()));
          return std::nullopt;
        }
        common = std::min(common, boundary->boundary);
      }
      if (common == cap) return common;
      cap = common;
    }
  }

  // A buffer for the range of one space, and the sizing generation.
  std::optional<std::pair<linkw::DriverBuffer, uint64_t>> MakeBuffer(linkw::SequenceId sequence,
                                                                     linkw::SpaceId space,
                                                                     uint64_t end) {
    const auto size = link_.Call<linkw::ExportSizeResult>(
        linkw::ExportSize{.sequence = sequence, .space_id = space, .range = {0, end}});
    if (!size.ok()) {
      Wrong(absl::StrCat("a size: ", size.status().ToString()));
      return std::nullopt;
    }
    const uint64_t bytes = size->required_bytes + kEnvelopeBytes;
    auto buffer = Any(2) == 0 ? link_.buffers().Allocate(bytes) : link_.buffers().Attach(bytes);
    if (!buffer.ok()) {
      Wrong(absl::StrCat("a buffer: ", buffer.status().ToString()));
      return std::nullopt;
    }
    return std::make_pair(*std::move(buffer), size->sizing_gen);
  }

  // Exports [0, end) of all spaces; some exports are cancelled before and asked for again.
  bool Export(linkw::SequenceId sequence, uint64_t end, bool demote, Buffers& buffers) {
    for (const auto& descriptor : link_.client().hello_ack().state_space_descriptors) {
      const linkw::SpaceId space = descriptor.space_id;
      bool done = false;
      for (bool cancel = Any(2) == 0; !done; cancel = false) {
        auto made = MakeBuffer(sequence, space, end);
        if (!made) return false;
        linkw::StateOp op = linkw::Snapshot{.sequence = sequence,
                                            .space_id = space,
                                            .boundary_pos = end,
                                            .buf_id = made->first.id(),
                                            .sizing_gen = made->second};
        if (demote) {
          op = linkw::Demote{.sequence = sequence,
                             .space_id = space,
                             .range = {0, end},
                             .buf_id = made->first.id(),
                             .sizing_gen = made->second};
        }
        const auto ended = RunOp(op, cancel);
        if (!ended || ended->state == linkw::OpState::kFailed) return false;
        done = ended->state == linkw::OpState::kDone;
        if (done) buffers[space] = std::move(made->first);
      }
    }
    return true;
  }

  // The reverse.
  bool Import(linkw::SequenceId sequence, uint64_t end, bool promote, const Buffers& buffers) {
    for (const auto& [space, buffer] : buffers) {
      linkw::StateOp op =
          linkw::Restore{.sequence = sequence, .space_id = space, .buf_id = buffer.id()};
      if (promote) {
        op = linkw::Promote{
            .sequence = sequence, .space_id = space, .range = {0, end}, .buf_id = buffer.id()};
      }
      bool done = false;
      for (bool cancel = Any(2) == 0; !done; cancel = false) {
        const auto ended = RunOp(op, cancel);
        if (!ended || ended->state == linkw::OpState::kFailed) return false;
        done = ended->state == linkw::OpState::kDone;
      }
    }
    return true;
  }

  // A restore that waits for a tick on the same sequence is cancelled before it begins.
  bool CancelBehindTick(const DrawReference& reference, const Buffers& buffers) {
    const auto prompt = Plan(reference, linkw::SequenceId{}, 0, reference.prompt.size(), 1);
    if (!prompt) return false;
    const auto begun = Checked(reference, RunTick(link_, *prompt));
    if (!begun) return false;
    const uint32_t draw = kDrawn - 1;
    const auto plan = Plan(reference, begun->sequence, begun->position, begun->position, draw);
    if (!plan) return false;
    auto stream = link_.Start(linkw::TickSubmit{*plan});
    const auto& [space, buffer] = *buffers.begin();
    const auto ended =
        RunOp(linkw::Restore{.sequence = begun->sequence, .space_id = space, .buf_id = buffer.id()},
              true);
    if (!Checked(reference, AwaitTick(link_, *plan, std::move(stream))) || !ended) return false;
    return Free(begun->sequence);
  }

  bool Free(linkw::SequenceId sequence) {
    const auto freed = link_.Call<linkw::FreeSequenceResult>(linkw::FreeSequence{sequence});
    return freed.ok() || Wrong(absl::StrCat("freeing: ", freed.status().ToString()));
  }

  // Goes on behind the first `position` tokens, to the end of the reference.
  bool GoOn(const DrawReference& reference, linkw::SequenceId sequence, uint64_t position) {
    const uint64_t known = std::max<uint64_t>(position, reference.prompt.size());
    const auto draw = static_cast<uint32_t>(reference.size() - known);
    return Tick(reference, sequence, position, known, draw).has_value() && Free(sequence);
  }

  bool RoundTrip() {
    const DrawReference& reference = references_.draws[Any(references_.draws.size())];
    const uint32_t drawn = 1 + Any(kDrawn / 2);
    const auto begun = Tick(reference, linkw::SequenceId{}, 0, reference.prompt.size(), drawn);
    if (!begun) return false;
    const auto boundary = CommonBoundary(begun->sequence, begun->position);
    if (!boundary) return false;
    Buffers buffers;
    if (*boundary > 0) {
      if (!Export(begun->sequence, *boundary, false, buffers)) return false;
      const auto made = link_.Call<linkw::CreateSequenceResult>(linkw::CreateSequence{});
      if (!made.ok()) return Wrong(absl::StrCat("a sequence: ", made.status().ToString()));
      if (!Import(made->sequence, *boundary, false, buffers) ||
          !GoOn(reference, made->sequence, *boundary) || !CancelBehindTick(reference, buffers) ||
          !DemoteAndPromote(reference, *begun, *boundary)) {
        return false;
      }
      link_.tally().Count("op.round_trip");
    }
    return GoOn(reference, begun->sequence, begun->position);
  }

  bool DemoteAndPromote(const DrawReference& reference, const linkw::LaneEvent& begun,
                        uint64_t end) {
    Buffers buffers;
    if (!Export(begun.sequence, end, true, buffers)) return false;
    const auto plan = Plan(reference, begun.sequence, begun.position, begun.position, 1);
    if (!plan) return false;
    const auto result = RunTick(link_, *plan);
    if (!result) return false;
    if (result->events.lanes.size() != 1 ||
        result->events.lanes[0].status != Status::kFailedPrecondition) {
      return Wrong("a lane ran on a sequence whose state is not there");
    }
    if (!Import(begun.sequence, end, true, buffers)) return false;
    link_.tally().Count("op.demoted");
    return true;
  }

  SoakLink& link_;
  const References& references_;
  std::mt19937_64 random_;
  uint64_t last_tick_ = 1'000'000;
};

}  // namespace

void RunOpLoad(SoakLink& link, const References& references, uint64_t seed) {
  OpLoad(link, references, seed).Run();
}

}  // namespace superfluid::stress
