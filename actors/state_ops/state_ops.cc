#include "actors/state_ops/state_ops.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "actors/runtime/engine_status.h"
#include "actors/state_ops/import_copy.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

absl::Status Mismatch(const std::string& what) {
  return linkw::MakeStatus(linkw::Status::kEnvelopeMismatch, what);
}

// Of a state that is copied or hashed: some milliseconds.
constexpr size_t kPieceBytes = size_t{16} << 20;
// Of one link: more would take the engine's processors and memory bandwidth.
constexpr size_t kPiecesAtOnce = 2;

// Why a pass over a state ended, in the words of the op's token.
absl::Status Stopped(const absl::Status& status, const CancelToken& token) {
  return absl::IsCancelled(status) ? StoppedStatus(token.reason()) : status;
}

// No thread is left that may block.
absl::Status Busy(const absl::Status& status) {
  if (status.ok()) return status;
  return linkw::MakeStatus(linkw::Status::kBusy, MessageOf(status));
}

linkw::OpState StateOf(const absl::Status& status) {
  if (status.ok()) return linkw::OpState::kDone;
  return absl::IsCancelled(status) ? linkw::OpState::kCancelled : linkw::OpState::kFailed;
}

}  // namespace

StateOpsState::~StateOpsState() {
  if (context_.progress != nullptr) context_.progress->AddOpenOps(-static_cast<int>(ops_.size()));
}

void StateOpsState::Start(StateOpsContext context) {
  context_ = std::move(context);
  buffers_.emplace(context_.buffers);
  pieces_ = std::make_shared<PieceRunner>(context_.readers, kPiecesAtOnce);
}

void StateOpsState::OnAllocate(const AllocateBuffer& allocate) {
  absl::StatusOr<std::shared_ptr<const Segment>> segment = Allocate(allocate.id, allocate.bytes);
  BufferAllocated allocated{.seq = allocate.seq,
                            .id = allocate.id,
                            .bytes = allocate.bytes,
                            .status = segment.status(),
                            .credit = allocate.credit};
  if (segment.ok()) allocated.segment = *std::move(segment);
  compat::Send(self_, context_.dispatcher, std::move(allocated));
}

absl::StatusOr<std::shared_ptr<const Segment>> StateOpsState::Allocate(linkw::BufId id,
                                                                       uint64_t bytes) {
  if (absl::Status unused = buffers_->CheckId(id); !unused.ok()) return unused;
  if (bytes == 0) return absl::InvalidArgumentError("a buffer of 0 bytes");
  if (absl::Status room = buffers_->CheckRoom(bytes); !room.ok()) return room;
  absl::StatusOr<Segment> segment =
      Segment::Create(bytes, absl::StrCat("superfluid-buf-", static_cast<uint64_t>(id)));
  if (!segment.ok()) return SystemStatus(segment.status());
  if (absl::Status added = buffers_->Insert(id, *std::move(segment)); !added.ok()) return added;
  return buffers_->Use(id);
}

void StateOpsState::OnAttach(const AttachBuffer& attach) {
  compat::Send(
      self_, context_.dispatcher,
      BufferAttached{.seq = attach.seq, .status = Attach(attach), .credit = attach.credit});
}

absl::Status StateOpsState::Attach(const AttachBuffer& attach) {
  if (absl::Status unused = buffers_->CheckId(attach.id); !unused.ok()) return unused;
  absl::StatusOr<Segment> segment =
      Segment::Attach(std::move(*attach.fd), attach.bytes, SegmentAccess::kReadWrite);
  if (!segment.ok()) return SystemStatus(segment.status());
  return buffers_->Insert(attach.id, *std::move(segment));
}

void StateOpsState::OnBind(const BindBuffer& bind) {
  absl::StatusOr<std::shared_ptr<const Segment>> segment = buffers_->Use(bind.id);
  BufferBound bound{.status = segment.status()};
  if (segment.ok()) bound.segment = *std::move(segment);
  compat::Send(self_, bind.user, std::move(bound));
}

void StateOpsState::OnLend(const LendBuffer& lend) {
  absl::StatusOr<std::shared_ptr<const Segment>> segment = buffers_->Use(lend.id);
  BufferLent lent{.seq = lend.seq, .status = segment.status()};
  if (segment.ok()) lent.segment = *std::move(segment);
  compat::Send(self_, context_.dispatcher, std::move(lent));
}

void StateOpsState::OnSubmit(const SubmitOp& submit) {
  const RequestKey key{context_.link, submit.seq};
  OpenOp op{.handle = submit.handle, .is_export = IsExport(submit.op)};
  linkw::StateEnvelope envelope;
  if (const absl::Status admitted = Admit(submit, op, envelope); !admitted.ok()) {
    submit.token->MarkAnswered();
    Send(submit.seq,
         linkw::StateOpAccepted{.status = EngineStatus(admitted), .message = MessageOf(admitted)});
    compat::Send(self_, context_.engine, DropOp{key});
    return compat::Send(self_, context_.dispatcher, RequestFinished{.seq = submit.seq});
  }
  Send(submit.seq, linkw::StateOpAccepted{.op_handle = submit.handle});
  context_.progress->AddOpenOps(1);
  op.run = {.key = key, .op = submit.op, .token = submit.token};
  OpenOp& open = ops_.emplace(submit.seq, std::move(op)).first->second;
  if (open.is_export) {
    RunOp run = open.run;
    run.segment = open.segment;
    return SendRun(std::move(run));
  }
  const absl::Status begun = BeginCopy(submit.seq, open, envelope);
  if (!begun.ok()) OnImportCopied({.seq = submit.seq, .status = begun});
}

// What is wrong with an op before it is accepted.
absl::Status StateOpsState::Admit(const SubmitOp& submit, OpenOp& op,
                                  linkw::StateEnvelope& envelope) const {
  if (ops_.size() >= context_.op_window) {
    return linkw::MakeStatus(linkw::Status::kBusy,
                             absl::StrCat(ops_.size(), " ops are open, the most that may be"));
  }
  const linkw::SpaceId space = SpaceOf(submit.op);
  if (FindSpace(space) == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no state space ", static_cast<uint32_t>(space)));
  }
  absl::StatusOr<std::shared_ptr<const Segment>> segment = buffers_->Use(BufferOf(submit.op));
  if (!segment.ok()) {
    return linkw::MakeStatus(linkw::Status::kUnknownHandle, MessageOf(segment.status()));
  }
  op.segment = *std::move(segment);
  if (op.is_export) return absl::OkStatus();
  absl::StatusOr<linkw::StateEnvelope> checked = CheckEnvelope(submit.op, *op.segment);
  if (!checked.ok()) return checked.status();
  envelope = *checked;
  return absl::OkStatus();
}

absl::StatusOr<linkw::StateEnvelope> StateOpsState::CheckEnvelope(const linkw::StateOp& op,
                                                                  const Segment& segment) const {
  if (segment.size() < linkw::kStateEnvelopeBytes)
    return Mismatch("the buffer is too small to be state");
  linkw::StateEnvelopeBytes bytes;
  std::memcpy(bytes.data(), segment.data(), bytes.size());
  absl::StatusOr<linkw::StateEnvelope> envelope = linkw::ParseStateEnvelope(bytes, segment.size());
  if (!envelope.ok()) return envelope;
  if (envelope->space_id != SpaceOf(op)) {
    return Mismatch(absl::StrCat("the buffer holds state of space ",
                                 static_cast<uint32_t>(envelope->space_id)));
  }
  const StateSpace& space = *FindSpace(envelope->space_id);
  if (envelope->compat_key != space.compat_key) {
    return Mismatch("the buffer holds state of another model or engine");
  }
  if (envelope->encoding >= 64 || ((space.encodings >> envelope->encoding) & 1) == 0) {
    return Mismatch(absl::StrCat("the space has no encoding ", envelope->encoding));
  }
  if (absl::Status size = CheckImportSize(*envelope, space, context_.context_tokens); !size.ok()) {
    return size;
  }
  if (const auto* promote = std::get_if<linkw::Promote>(&op)) {
    if (envelope->range != promote->range) {
      return Mismatch("the buffer holds the state of another token range");
    }
  } else if (envelope->range.start != 0) {
    return Mismatch("the buffer holds a part of a state; PROMOTE takes those");
  }
  return envelope;
}

absl::Status StateOpsState::BeginCopy(uint64_t seq, OpenOp& op,
                                      const linkw::StateEnvelope& envelope) {
  if (absl::Status room = buffers_->TakeCopy(envelope.payload_bytes); !room.ok()) return room;
  op.private_bytes = envelope.payload_bytes;
  op.import = std::make_shared<ImportedState>();
  op.import->envelope = envelope;
  op.import->bytes.reset(new (std::nothrow) std::byte[envelope.payload_bytes]);
  if (op.import->bytes == nullptr) {
    return linkw::MakeStatus(linkw::Status::kOutOfMemory, "no memory to import so much state");
  }
  const auto pass = std::make_shared<PayloadPass>(
      absl::MakeConstSpan(op.segment->data() + linkw::kStateEnvelopeBytes, envelope.payload_bytes),
      absl::MakeSpan(op.import->bytes.get(), envelope.payload_bytes));
  return Busy(
      pieces_->Begin([self = compat::Weak<StateOps>(StateOps(self_)), seq, pass,
                      segment = op.segment, import = op.import, token = op.run.token]() mutable {
        const absl::StatusOr<bool> done =
            pass->Step(kPieceBytes, [&token] { return token->cancelled(); });
        if (done.ok() && !*done) return true;
        ImportCopied copied{.seq = seq,
                            .status = done.ok() ? CheckPayload(import->envelope, *pass)
                                                : Stopped(done.status(), *token)};
        segment.reset();
        import.reset();  // before anybody is told: who is told drops the last reference
        compat::SendFromOutside(self.Lock(), std::move(copied));
        return false;
      }));
}

void StateOpsState::OnImportCopied(const ImportCopied& copied) {
  const auto it = ops_.find(copied.seq);
  if (it == ops_.end()) return;
  OpenOp& op = it->second;
  if (!copied.status.ok()) {
    op.import.reset();
    compat::Send(self_, context_.engine, DropOp{op.run.key});
    return Finish(copied.seq, copied.status, 0);
  }
  RunOp run = op.run;
  run.import = std::exchange(op.import, nullptr);  // the engine's alone, to let go of
  SendRun(std::move(run));
}

// What an op keeps does not name this actor, or it would keep itself.
void StateOpsState::SendRun(RunOp run) {
  run.reply_to = StateOps(self_);
  compat::Send(self_, context_.engine, std::move(run));
}

void StateOpsState::OnOpEnded(const OpEnded& ended) {
  const auto it = ops_.find(ended.seq);
  if (it == ops_.end()) return;
  absl::Status status = ended.status;
  if (status.ok() && it->second.is_export) {
    it->second.ended = ended;
    status = Hash(ended.seq, it->second);
    if (status.ok()) return;
  }
  Finish(ended.seq, status, ended.bytes_moved);
}

absl::Status StateOpsState::Hash(uint64_t seq, const OpenOp& op) {
  const absl::StatusOr<absl::Span<std::byte>> payload =
      op.segment->Slice(linkw::kStateEnvelopeBytes, op.ended.envelope.payload_bytes);
  if (!payload.ok()) return payload.status();
  const bool only_copy = std::holds_alternative<linkw::Demote>(op.run.op);
  pieces_->Continue([self = compat::Weak<StateOps>(StateOps(self_)), seq, only_copy,
                     pass = std::make_shared<PayloadPass>(*payload), segment = op.segment,
                     token = op.run.token]() mutable {
    const absl::StatusOr<bool> done = pass->Step(kPieceBytes, [&token, only_copy] {
      return only_copy ? token->reason() == CancelReason::kLinkClosed : token->cancelled();
    });
    if (done.ok() && !*done) return true;
    ExportHashed hashed{.seq = seq,
                        .status = done.ok() ? absl::OkStatus() : Stopped(done.status(), *token),
                        .payload_hash = done.ok() ? pass->hash() : 0};
    segment.reset();
    compat::SendFromOutside(self.Lock(), std::move(hashed));
    return false;
  });
  return absl::OkStatus();
}

void StateOpsState::OnExportHashed(const ExportHashed& hashed) {
  const auto it = ops_.find(hashed.seq);
  if (it == ops_.end()) return;
  if (hashed.status.ok()) Seal(it->second, hashed.payload_hash);
  Finish(hashed.seq, hashed.status, it->second.ended.bytes_moved);
}

// The envelope goes in last, when all behind it is in place.
void StateOpsState::Seal(const OpenOp& op, uint64_t payload_hash) const {
  linkw::StateEnvelope envelope = op.ended.envelope;
  envelope.compat_key = FindSpace(envelope.space_id)->compat_key;
  envelope.payload_hash = payload_hash;
  const linkw::StateEnvelopeBytes sealed = linkw::SealStateEnvelope(envelope);
  std::memcpy(op.segment->data(), sealed.data(), sealed.size());
}

const StateSpace* StateOpsState::FindSpace(linkw::SpaceId id) const {
  const auto it = std::find_if(
      context_.spaces->begin(), context_.spaces->end(),
      [id](const StateSpace& space) { return static_cast<linkw::SpaceId>(space.id) == id; });
  return it == context_.spaces->end() ? nullptr : &*it;
}

void StateOpsState::Finish(uint64_t seq, const absl::Status& status, uint64_t bytes_moved) {
  auto node = ops_.extract(seq);
  const linkw::StateOpDone done{.op_handle = node.mapped().handle,
                                .state = StateOf(status),
                                .error = EngineStatus(status),
                                .message = MessageOf(status),
                                .bytes_moved = bytes_moved};
  buffers_->DropCopy(node.mapped().private_bytes);
  node.mapped().segment.reset();  // a release that waited for this op takes effect before its Done
  context_.progress->AddOpenOps(-1);
  context_.progress->AddOpDone(bytes_moved);
  node.mapped().run.token->MarkAnswered();
  Send(seq, done);
  // After the Done is in the writer's hands: a tick's result may name it from now on.
  compat::Send(self_, context_.engine, OpReported{context_.link, done});
  compat::Send(self_, context_.dispatcher, RequestFinished{.seq = seq});
}

void StateOpsState::Send(uint64_t seq, linkw::WorkerMessage message) {
  context_.replies->NoteHandedOver();
  compat::Send(
      self_, context_.writer,
      SendMessage{.correlation = seq,
                  .message = std::make_shared<const linkw::WorkerMessage>(std::move(message)),
                  .counted_by = context_.replies});
}

StateOps::behavior_type StateOpsBehavior(StateOps::stateful_pointer<StateOpsState> self,
                                         StateOpsContext context) {
  self->state.Start(std::move(context));
  return {
      [self](const AllocateBuffer& allocate) { self->state.OnAllocate(allocate); },
      [self](const AttachBuffer& attach) { self->state.OnAttach(attach); },
      [self](const ReleaseBuffer& release) { self->state.OnRelease(release); },
      [self](const BindBuffer& bind) { self->state.OnBind(bind); },
      [self](const LendBuffer& lend) { self->state.OnLend(lend); },
      [self](const SubmitOp& submit) { self->state.OnSubmit(submit); },
      [self](const OpEnded& ended) { self->state.OnOpEnded(ended); },
      [self](const ImportCopied& copied) { self->state.OnImportCopied(copied); },
      [self](const ExportHashed& hashed) { self->state.OnExportHashed(hashed); },
  };
}

}  // namespace superfluid
