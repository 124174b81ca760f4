#include "engine/sim/sim_state_job.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/sampling/mix.h"
#include "engine/sim/sim_kv_codec.h"

namespace superfluid {
namespace {

uint64_t EncodingsOf(SpaceId space) {
  return space == kSimKvSpace ? kSimKvEncodings : kSimRecurrentEncodings;
}

absl::Status CheckEncoding(SpaceId space, uint32_t encoding) {
  if (encoding < 64 && ((EncodingsOf(space) >> encoding) & 1U) != 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the space has no encoding ", encoding));
}

uint64_t BytesOf(SpaceId space, TokenRange range, uint32_t encoding) {
  if (space == kSimRecurrentSpace) return kSimRecurrentBytes;
  return SimKvBytes(range.end - range.start, encoding);
}

// What exports and imports share: chunks, time, faults.
class SimStateJob : public StateJob {
 public:
  // `units`: rows, or the one recurrent state. `bytes`: of all, with what is around them.
  SimStateJob(SimWorld& world, SequenceHandle handle, SpaceId space, uint64_t units, uint64_t bytes)
      : world_(world),
        handle_(handle),
        space_(space),
        number_(++world.ops),
        started_(world.clock->Now()),
        units_(units),
        bytes_(bytes),
        version_((*world.sequences.Find(handle))->version(space)) {}

  absl::StatusOr<StateJobOutcome> Step(const StepBudget& /*budget*/,
                                       const CancelToken& token) override;
  uint64_t bytes_moved() const override { return moved_all_ ? bytes_ : done_ * kSimRowBytes; }

 protected:
  virtual absl::Status Move(SimSequence& sequence, uint64_t from, uint64_t to) = 0;
  virtual absl::Status Commit(SimSequence& sequence) = 0;
  SimWorld& world() { return world_; }

 private:
  absl::StatusOr<SimSequence*> Sequence() const;
  absl::Status Misbehave();

  SimWorld& world_;
  const SequenceHandle handle_;
  const SpaceId space_;
  const uint64_t number_;
  const absl::Time started_;
  const uint64_t units_;
  const uint64_t bytes_;
  const uint64_t version_;
  uint64_t done_ = 0;  // of units_
  bool moved_all_ = false;
};

absl::StatusOr<SimSequence*> SimStateJob::Sequence() const {
  absl::StatusOr<SimSequence*> found = world_.sequences.Find(handle_);
  if (!found.ok() || (*found)->version(space_) != version_) {
    return absl::FailedPreconditionError("the sequence has changed under the state job");
  }
  return found;
}

absl::Status SimStateJob::Misbehave() {
  const SimGenerationFaults& faults = world_.options.faults;
  return world_.Misbehave({faults.slow_at_op, faults.stuck_at_op, faults.throw_at_op,
                           faults.out_of_memory_at_op, faults.fail_at_op},
                          number_);
}

absl::StatusOr<StateJobOutcome> SimStateJob::Step(const StepBudget& /*budget*/,
                                                  const CancelToken& token) {
  const absl::Status cancelled = absl::CancelledError("the state job was cancelled");
  if (token.cancelled()) return cancelled;
  const absl::StatusOr<SimSequence*> sequence = Sequence();
  if (!sequence.ok()) return sequence.status();
  const auto chunk = static_cast<uint64_t>(world_.options.op_chunk_bytes);
  const uint64_t to = std::min(units_, done_ + std::max(uint64_t{1}, chunk / kSimRowBytes));
  if (absl::Status status = Move(**sequence, done_, to); !status.ok()) return status;
  done_ = to;
  if (done_ < units_) return StateJobOutcome::kMore;
  moved_all_ = true;
  if (world_.clock->Now() < started_ + world_.options.op) return StateJobOutcome::kWaiting;
  if (absl::Status status = Misbehave(); !status.ok()) return status;
  if (token.cancelled()) return cancelled;
  if (absl::Status status = Commit(**sequence); !status.ok()) return status;
  return StateJobOutcome::kDone;
}

class KvExport : public SimStateJob {
 public:
  KvExport(SimWorld& world, const StateExport& what, absl::Span<std::byte> out)
      : SimStateJob(world, what.sequence, what.space, what.range.end - what.range.start,
                    out.size()),
        what_(what),
        writer_(what.range.end - what.range.start, what.encoding, out) {}

 protected:
  absl::Status Move(SimSequence& sequence, uint64_t from, uint64_t to) override {
    SimRowBytes row{};
    for (uint64_t i = from; i < to; ++i) {
      const uint64_t position = what_.range.start + i;
      EncodeSimRow(sequence.Row(position), sequence.drawn(position), position, row);
      writer_.Put(i, row);
    }
    return absl::OkStatus();
  }
  absl::Status Commit(SimSequence& sequence) override {
    if (what_.free_device_copy) sequence.Demote(kSimKvSpace, what_.range);
    return absl::OkStatus();
  }

 private:
  const StateExport what_;
  SimKvWriter writer_;
};

class RecurrentExport : public SimStateJob {
 public:
  RecurrentExport(SimWorld& world, const StateExport& what, absl::Span<std::byte> out)
      : SimStateJob(world, what.sequence, what.space, 1, kSimRecurrentBytes),
        what_(what),
        out_(out) {}

 protected:
  absl::Status Move(SimSequence& sequence, uint64_t /*from*/, uint64_t /*to*/) override {
    const absl::StatusOr<SimRecurrent> state = sequence.RecurrentAt(what_.range.end);
    if (!state.ok()) return state.status();
    std::memcpy(out_.data(), state->data(), kSimRecurrentBytes);
    return absl::OkStatus();
  }
  absl::Status Commit(SimSequence& sequence) override {
    if (what_.free_device_copy) sequence.Demote(kSimRecurrentSpace, what_.range);
    return absl::OkStatus();
  }

 private:
  const StateExport what_;
  const absl::Span<std::byte> out_;
};

class KvImport : public SimStateJob {
 public:
  KvImport(SimWorld& world, const StateImport& what, absl::Span<const std::byte> bytes,
           std::unique_ptr<SimTentativeBlocks> blocks)
      : SimStateJob(world, what.sequence, what.space, what.range.end - what.range.start,
                    bytes.size()),
        what_(what),
        reader_(what.range.end - what.range.start, what.encoding, bytes),
        blocks_(std::move(blocks)) {}

 protected:
  absl::Status Move(SimSequence& /*sequence*/, uint64_t from, uint64_t to) override {
    if (absl::Status status = reader_.Check(); !status.ok()) return status;
    for (uint64_t i = from; i < to; ++i) {
      const uint64_t position = what_.range.start + i;
      const SimRowBytes bytes = reader_.Get(i);
      const auto row = DecodeSimRow(bytes, position, world().options.vocab);
      if (!row.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat("no state of token ", position));
      }
      rows_.push_back(*row);
    }
    return absl::OkStatus();
  }
  absl::Status Commit(SimSequence& sequence) override {
    if (!what_.replace) return sequence.Promote(what_.range, rows_, *blocks_);
    TokenProvenance provenance(sequence.adapter().fingerprint);
    for (const SimDecodedRow& row : rows_) provenance.Add(row.row.token, row.row.media);
    if (provenance.digest() != what_.provenance) {
      return absl::InvalidArgumentError("the rows are not those of this provenance");
    }
    sequence.Replace(rows_, blocks_->Take());
    return absl::OkStatus();
  }

 private:
  const StateImport what_;
  const SimKvReader reader_;
  const std::unique_ptr<SimTentativeBlocks> blocks_;
  std::vector<SimDecodedRow> rows_;
};

class RecurrentImport : public SimStateJob {
 public:
  RecurrentImport(SimWorld& world, const StateImport& what, absl::Span<const std::byte> bytes)
      : SimStateJob(world, what.sequence, what.space, 1, kSimRecurrentBytes),
        what_(what),
        source_(bytes) {}

 protected:
  absl::Status Move(SimSequence& /*sequence*/, uint64_t /*from*/, uint64_t /*to*/) override {
    std::memcpy(state_.data(), source_.data(), kSimRecurrentBytes);
    return absl::OkStatus();
  }
  absl::Status Commit(SimSequence& sequence) override {
    sequence.SetRecurrent(what_.range.end, state_, what_.provenance);
    return absl::OkStatus();
  }

 private:
  const StateImport what_;
  const absl::Span<const std::byte> source_;
  SimRecurrent state_{};
};

absl::Status CheckRestore(const SimWorld& world, const SimSequence& sequence,
                          const StateImport& what) {
  const TokenRange& range = what.range;
  if (range.start != 0 || range.end > world.options.context) {
    return absl::InvalidArgumentError(
        absl::StrCat("what is restored is a range from 0 to at most ", world.options.context));
  }
  if (AdapterOfProvenance(what.provenance) != sequence.adapter().fingerprint) {
    return absl::FailedPreconditionError("the state was computed under another adapter");
  }
  return absl::OkStatus();
}

uint64_t BlocksTouched(TokenRange range) {
  if (range.start == range.end) return 0;
  return (range.end - 1) / kSimBlockTokens - range.start / kSimBlockTokens + 1;
}

}  // namespace

std::vector<StateSpace> SimStateSpaces(uint32_t vocab) {
  StateSpace kv;
  kv.id = kSimKvSpace;
  kv.name = "kv";
  kv.bytes_per_token = kSimRowBytes;
  kv.boundary_tokens = 1;
  kv.encodings = kSimKvEncodings;
  kv.compat_key = DigestOf(0x73696D, 1, vocab, 0);
  StateSpace recurrent;
  recurrent.id = kSimRecurrentSpace;
  recurrent.name = "recurrent";
  recurrent.boundary_tokens = kSimBlockTokens;
  recurrent.encodings = kSimRecurrentEncodings;
  recurrent.compat_key = DigestOf(0x73696D, 1, vocab, 1);
  return {kv, recurrent};
}

absl::StatusOr<SimSequence*> FindSimState(const SimWorld& world, SequenceHandle sequence,
                                          SpaceId space) {
  if (space != kSimKvSpace && space != kSimRecurrentSpace) {
    return absl::InvalidArgumentError(
        absl::StrCat("no state space ", static_cast<uint32_t>(space)));
  }
  return world.sequences.Find(sequence);
}

absl::StatusOr<ExportSize> SizeOfSimExport(const SimWorld& world, SequenceHandle sequence,
                                           SpaceId space, TokenRange range, uint32_t encoding) {
  const absl::StatusOr<SimSequence*> found = FindSimState(world, sequence, space);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEncoding(space, encoding); !status.ok()) return status;
  if (absl::Status status = (*found)->CheckExport(space, range); !status.ok()) return status;
  return ExportSize{BytesOf(space, range, encoding), (*found)->version(space)};
}

absl::StatusOr<std::unique_ptr<StateJob>> StartSimExport(SimWorld& world, const StateExport& what,
                                                         absl::Span<std::byte> out) {
  const absl::StatusOr<ExportSize> size =
      SizeOfSimExport(world, what.sequence, what.space, what.range, what.encoding);
  if (!size.ok()) return size.status();
  if (out.size() != size->bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("room for ", out.size(), " bytes of state instead of ", size->bytes));
  }
  if (what.space == kSimKvSpace) return std::make_unique<KvExport>(world, what, out);
  const uint64_t length = (*world.sequences.Find(what.sequence))->LengthOf(what.space);
  if (what.free_device_copy && what.range.end != length) {
    return absl::InvalidArgumentError("the space recurrent can be freed as a whole only");
  }
  return std::make_unique<RecurrentExport>(world, what, out);
}

absl::StatusOr<std::unique_ptr<StateJob>> StartSimImport(SimWorld& world, const StateImport& what,
                                                         absl::Span<const std::byte> bytes) {
  const absl::StatusOr<SimSequence*> found = FindSimState(world, what.sequence, what.space);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEncoding(what.space, what.encoding); !status.ok()) return status;
  absl::Status status = what.replace
                            ? CheckRestore(world, **found, what)
                            : (*found)->CheckPromote(what.space, what.range, what.provenance);
  if (!status.ok()) return status;
  const uint64_t expected = BytesOf(what.space, what.range, what.encoding);
  if (bytes.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes.size(), " bytes of state instead of ", expected));
  }
  if (what.space == kSimRecurrentSpace) {
    return std::make_unique<RecurrentImport>(world, what, bytes);
  }
  std::unique_ptr<SimTentativeBlocks> blocks = world.pool.TakeTentative(BlocksTouched(what.range));
  if (blocks == nullptr) return absl::ResourceExhaustedError("no blocks for what is imported");
  return std::make_unique<KvImport>(world, what, bytes, std::move(blocks));
}

}  // namespace superfluid
