#include "engine/sim/sim_state_movers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/sampling/mix.h"
#include "engine/sim/sim_kv_codec.h"

namespace superfluid {
namespace {

SimSequence& Of(SessionSequence& sequence) { return static_cast<SimSequence&>(sequence); }

// What exports and imports share: chunks, time, faults.
class SimStateMover : public StateMover {
 public:
  // `units`: rows, or the one recurrent state. `bytes`: of all, with what is around them.
  SimStateMover(SimTokenModel& model, uint64_t units, uint64_t bytes)
      : model_(model),
        number_(++model.ops),
        started_(model.clock->Now()),
        units_(units),
        chunk_(std::max(uint64_t{1},
                        static_cast<uint64_t>(model.options.op_chunk_bytes) / kSimRowBytes)),
        bytes_(bytes) {}

  uint64_t parts() const override { return std::max(uint64_t{1}, (units_ + chunk_ - 1) / chunk_); }
  absl::Status Move(SessionSequence& sequence, uint64_t part) override {
    return MoveUnits(Of(sequence), part * chunk_, std::min(units_, (part + 1) * chunk_));
  }
  absl::StatusOr<StateJobOutcome> Finish() override;
  uint64_t BytesMoved(uint64_t moved) const override {
    return moved == parts() ? bytes_ : moved * chunk_ * kSimRowBytes;
  }

 protected:
  virtual absl::Status MoveUnits(SimSequence& sequence, uint64_t from, uint64_t to) = 0;
  SimTokenModel& model() { return model_; }

 private:
  SimTokenModel& model_;
  const uint64_t number_;
  const absl::Time started_;
  const uint64_t units_;
  const uint64_t chunk_;
  const uint64_t bytes_;
};

absl::StatusOr<StateJobOutcome> SimStateMover::Finish() {
  if (model_.clock->Now() < started_ + model_.options.op) return StateJobOutcome::kWaiting;
  const SimGenerationFaults& faults = model_.options.faults;
  const absl::Status status =
      model_.Misbehave({faults.slow_at_op, faults.stuck_at_op, faults.throw_at_op,
                        faults.out_of_memory_at_op, faults.fail_at_op},
                       number_);
  if (!status.ok()) return status;
  return StateJobOutcome::kDone;
}

class KvExport : public SimStateMover {
 public:
  KvExport(SimTokenModel& model, const StateExport& what, absl::Span<std::byte> out)
      : SimStateMover(model, what.range.end - what.range.start, out.size()),
        what_(what),
        writer_(what.range.end - what.range.start, what.encoding, out) {}

 protected:
  absl::Status MoveUnits(SimSequence& sequence, uint64_t from, uint64_t to) override {
    SimRowBytes row{};
    for (uint64_t i = from; i < to; ++i) {
      const uint64_t position = what_.range.start + i;
      EncodeSimRow(sequence.Row(position), sequence.drawn(position), position, row);
      writer_.Put(i, row);
    }
    return absl::OkStatus();
  }
  absl::Status Commit(SessionSequence& sequence) override {
    if (what_.free_device_copy) Of(sequence).Demote(kSimKvSpace, what_.range);
    return absl::OkStatus();
  }

 private:
  const StateExport what_;
  SimKvWriter writer_;
};

class RecurrentExport : public SimStateMover {
 public:
  RecurrentExport(SimTokenModel& model, const StateExport& what, absl::Span<std::byte> out)
      : SimStateMover(model, 1, kSimRecurrentBytes), what_(what), out_(out) {}

 protected:
  absl::Status MoveUnits(SimSequence& sequence, uint64_t /*from*/, uint64_t /*to*/) override {
    const absl::StatusOr<SimRecurrent> state = sequence.RecurrentAt(what_.range.end);
    if (!state.ok()) return state.status();
    std::memcpy(out_.data(), state->data(), kSimRecurrentBytes);
    return absl::OkStatus();
  }
  absl::Status Commit(SessionSequence& sequence) override {
    if (what_.free_device_copy) Of(sequence).Demote(kSimRecurrentSpace, what_.range);
    return absl::OkStatus();
  }

 private:
  const StateExport what_;
  const absl::Span<std::byte> out_;
};

class KvImport : public SimStateMover {
 public:
  KvImport(SimTokenModel& model, const StateImport& what, absl::Span<const std::byte> bytes,
           std::unique_ptr<SimTentativeBlocks> blocks)
      : SimStateMover(model, what.range.end - what.range.start, bytes.size()),
        what_(what),
        reader_(what.range.end - what.range.start, what.encoding, bytes),
        blocks_(std::move(blocks)) {}

 protected:
  absl::Status MoveUnits(SimSequence& /*sequence*/, uint64_t from, uint64_t to) override {
    if (absl::Status status = reader_.Check(); !status.ok()) return status;
    for (uint64_t i = from; i < to; ++i) {
      const uint64_t position = what_.range.start + i;
      const SimRowBytes bytes = reader_.Get(i);
      const auto row = DecodeSimRow(bytes, position, model().options.vocab);
      if (!row.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat("no state of token ", position));
      }
      rows_.push_back(*row);
    }
    return absl::OkStatus();
  }
  absl::Status Commit(SessionSequence& sequence) override {
    if (!what_.replace) return Of(sequence).Promote(what_.range, rows_, *blocks_);
    TokenProvenance provenance(sequence.adapter().fingerprint);
    for (const SimDecodedRow& row : rows_) provenance.Add(row.row.token, row.row.media);
    if (provenance.digest() != what_.provenance) {
      return absl::InvalidArgumentError("the rows are not those of this provenance");
    }
    Of(sequence).Replace(rows_, blocks_->Take());
    return absl::OkStatus();
  }

 private:
  const StateImport what_;
  const SimKvReader reader_;
  const std::unique_ptr<SimTentativeBlocks> blocks_;
  std::vector<SimDecodedRow> rows_;
};

class RecurrentImport : public SimStateMover {
 public:
  RecurrentImport(SimTokenModel& model, const StateImport& what, absl::Span<const std::byte> bytes)
      : SimStateMover(model, 1, kSimRecurrentBytes), what_(what), source_(bytes) {}

 protected:
  absl::Status MoveUnits(SimSequence& /*sequence*/, uint64_t /*from*/, uint64_t /*to*/) override {
    std::memcpy(state_.data(), source_.data(), kSimRecurrentBytes);
    return absl::OkStatus();
  }
  absl::Status Commit(SessionSequence& sequence) override {
    Of(sequence).SetRecurrent(what_.range.end, state_, what_.provenance);
    return absl::OkStatus();
  }

 private:
  const StateImport what_;
  const absl::Span<const std::byte> source_;
  SimRecurrent state_{};
};

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

uint64_t SimStateBytes(SpaceId space, TokenRange range, uint32_t encoding) {
  if (space == kSimRecurrentSpace) return kSimRecurrentBytes;
  return SimKvBytes(range.end - range.start, encoding);
}

absl::StatusOr<std::unique_ptr<StateMover>> StartSimExport(SimTokenModel& model,
                                                           const SimSequence& sequence,
                                                           const StateExport& what,
                                                           absl::Span<std::byte> out) {
  if (what.space == kSimKvSpace) return std::make_unique<KvExport>(model, what, out);
  if (what.free_device_copy && what.range.end != sequence.LengthOf(what.space)) {
    return absl::InvalidArgumentError("the space recurrent can be freed as a whole only");
  }
  return std::make_unique<RecurrentExport>(model, what, out);
}

absl::StatusOr<std::unique_ptr<StateMover>> StartSimImport(SimTokenModel& model,
                                                           const SimSequence& /*sequence*/,
                                                           const StateImport& what,
                                                           absl::Span<const std::byte> bytes) {
  const uint64_t expected = SimStateBytes(what.space, what.range, what.encoding);
  if (bytes.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes.size(), " bytes of state instead of ", expected));
  }
  if (what.space == kSimRecurrentSpace) {
    return std::make_unique<RecurrentImport>(model, what, bytes);
  }
  std::unique_ptr<SimTentativeBlocks> blocks = model.pool.TakeTentative(BlocksTouched(what.range));
  if (blocks == nullptr) return absl::ResourceExhaustedError("no blocks for what is imported");
  return std::make_unique<KvImport>(model, what, bytes, std::move(blocks));
}

}  // namespace superfluid
