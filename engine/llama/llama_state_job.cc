#include "engine/llama/llama_state_job.h"

#include <llama.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/llama/state_checks.h"
#include "engine/llama/state_image.h"
#include "engine/sampling/mix.h"

namespace superfluid {
namespace {

constexpr uint64_t kPartBytes = uint64_t{4} << 20U;
constexpr uint32_t kMaxPart = 1024;
constexpr uint32_t kMinPart = 16;

// Tokens that a step moves. With sliding-window attention the library leaves out of a sequence's
// state what its last token does not see, so a part must not be longer than the window.
uint32_t PartTokens(const LlamaWorld& world) {
  const uint64_t per_token = std::max<uint64_t>(world.layout.bytes_per_token(), 1);
  const auto fit = static_cast<uint32_t>(std::min<uint64_t>(kPartBytes / per_token, kMaxPart));
  const uint32_t part = std::max(fit, kMinPart);
  const uint32_t window = world.model->window_tokens();
  return window == 0 ? part : std::max(1U, std::min(part, window));
}

StateImage ImageOf(const LlamaWorld& world, const LlamaSequence& sequence, TokenRange range) {
  const size_t runs = MediaRuns(sequence.media().marks(), range).size();
  return {world.layout, range, PartTokens(world), runs};
}

absl::Status CheckSpace(const LlamaWorld& world, SpaceId space) {
  if (!world.layout.known()) return absl::UnimplementedError("no state can be exported");
  if (space == kLlamaKvSpace) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("no state space ", static_cast<uint32_t>(space)));
}

absl::Status CheckEncoding(uint32_t encoding) {
  if (encoding == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the space has no encoding ", encoding));
}

uint8_t* LibraryBytes(std::byte* bytes) {
  // The library's bytes are uint8_t.
  return reinterpret_cast<uint8_t*>(bytes);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

const uint8_t* LibraryBytes(const std::byte* bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return reinterpret_cast<const uint8_t*>(bytes);
}

absl::Status NoSequenceLeft() {
  return absl::ResourceExhaustedError("no sequence is left to move state with");
}

// What exports and imports share.
class LlamaStateJob : public StateJob {
 public:
  LlamaStateJob(LlamaWorld& world, SequenceHandle handle, StateImage image, uint64_t bytes)
      : world_(world),
        handle_(handle),
        image_(image),
        bytes_(bytes),
        version_((*world.sequences.Find(handle))->version()) {}

  absl::StatusOr<StateJobOutcome> Step(const StepBudget& /*budget*/,
                                       const CancelToken& token) override {
    const absl::Status cancelled = absl::CancelledError("the state job was cancelled");
    if (token.cancelled()) return cancelled;
    const absl::StatusOr<LlamaSequence*> sequence = world_.sequences.Find(handle_);
    if (!sequence.ok() || (*sequence)->version() != version_) {
      return absl::FailedPreconditionError("the sequence has changed under the state job");
    }
    const absl::StatusOr<bool> ready = Prepare(**sequence, token);
    if (!ready.ok()) return ready.status();
    if (!*ready) return StateJobOutcome::kMore;
    if (next_ < image_.parts()) {
      if (absl::Status status = Move(**sequence, next_); !status.ok()) return status;
      if (++next_ < image_.parts()) return StateJobOutcome::kMore;
      if (token.cancelled()) return cancelled;
    }
    if (absl::Status status = Commit(**sequence); !status.ok()) return status;
    done_ = true;
    return StateJobOutcome::kDone;
  }

  uint64_t bytes_moved() const override { return done_ ? bytes_ : image_.PartOffset(next_); }

 protected:
  // False: once more.
  virtual absl::StatusOr<bool> Prepare(LlamaSequence& sequence, const CancelToken& token) = 0;
  virtual absl::Status Move(LlamaSequence& sequence, uint64_t part) = 0;
  virtual absl::Status Commit(LlamaSequence& sequence) = 0;

  LlamaWorld& world() { return world_; }
  const StateImage& image() const { return image_; }

 private:
  LlamaWorld& world_;
  const SequenceHandle handle_;
  const StateImage image_;
  const uint64_t bytes_;
  const uint64_t version_;
  uint64_t next_ = 0;  // part
  bool done_ = false;
};

class LlamaExport : public LlamaStateJob {
 public:
  LlamaExport(LlamaWorld& world, const StateExport& what, StateImage image,
              absl::Span<std::byte> out)
      : LlamaStateJob(world, what.sequence, image, out.size()), what_(what), out_(out) {}

 protected:
  absl::StatusOr<bool> Prepare(LlamaSequence& sequence, const CancelToken& token) override {
    if (sequence.computed() < what_.range.end) {
      const auto some = world().ComputeSome(sequence, what_.range.end, CallControl(token, nullptr));
      if (!some.ok()) return some.status();
      return false;
    }
    if (!head_written_) WriteHead(sequence);
    return true;
  }

  absl::Status Move(LlamaSequence& sequence, uint64_t part) override {
    const absl::StatusOr<int32_t> id = sequence.Id();
    if (!id.ok()) return id.status();
    const std::unique_ptr<KvSequence> scratch = KvSequence::Take(world().kv);
    if (scratch == nullptr) return NoSequenceLeft();
    const TokenRange range = image().PartRange(part);
    world().kv.Copy(*id, scratch->id(), range.start, static_cast<int64_t>(range.end));
    const uint64_t from = image().PartOffset(part);
    const uint64_t size = image().PartOffset(part + 1) - from;
    try {
      llama_context* context = world().model->context();
      if (llama_state_seq_get_size(context, scratch->id()) == size &&
          llama_state_seq_get_data(context, LibraryBytes(out_.data() + from), size,
                                   scratch->id()) == size) {
        world().layout.HideSequence(out_.subspan(from, size), range.end - range.start);
        return absl::OkStatus();
      }
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): as if it wrote too little
    }
    return absl::InternalError("the library wrote state of another size");
  }

  absl::Status Commit(LlamaSequence& sequence) override {
    if (what_.free_device_copy) sequence.Demote(what_.range);
    return absl::OkStatus();
  }

 private:
  void WriteHead(const LlamaSequence& sequence) {
    const TokenRange& range = what_.range;
    std::vector<bool> drawn;
    drawn.reserve(image().tokens());
    for (uint64_t i = range.start; i < range.end; ++i) drawn.push_back(sequence.drawn(i));
    const auto head = image().Head(sequence.tokens().subspan(range.start, image().tokens()), drawn,
                                   MediaRuns(sequence.media().marks(), range));
    std::memcpy(out_.data(), head.data(), head.size());
    head_written_ = true;
  }

  const StateExport what_;
  const absl::Span<std::byte> out_;
  bool head_written_ = false;
};

class LlamaImport : public LlamaStateJob {
 public:
  LlamaImport(LlamaWorld& world, const StateImport& what, StateImage image, StateHead head,
              absl::Span<const std::byte> bytes)
      : LlamaStateJob(world, what.sequence, image, bytes.size()),
        what_(what),
        head_(std::move(head)),
        source_(bytes),
        cells_(world.cells),
        reserved_(image.tokens()) {
    world.cells.Reserve(reserved_);
    world.tentative_tokens += image.tokens();
  }
  ~LlamaImport() override {
    world().cells.Unreserve(reserved_);
    world().tentative_tokens -= image().tokens();
  }

 protected:
  absl::StatusOr<bool> Prepare(LlamaSequence& /*sequence*/, const CancelToken& /*token*/) override {
    if (image().parts() == 0 || state_ != nullptr) return true;
    state_ = KvSequence::Take(world().kv);
    if (state_ == nullptr) return NoSequenceLeft();
    return true;
  }

  absl::Status Move(LlamaSequence& /*sequence*/, uint64_t part) override {
    const uint64_t from = image().PartOffset(part);
    const absl::Span<const std::byte> bytes =
        source_.subspan(from, image().PartOffset(part + 1) - from);
    const TokenRange range = image().PartRange(part);
    if (absl::Status status = world().layout.Check(bytes, range); !status.ok()) return status;
    const std::unique_ptr<KvSequence> scratch = KvSequence::Take(world().kv);
    if (scratch == nullptr) return NoSequenceLeft();
    try {
      if (llama_state_seq_set_data(world().model->context(), LibraryBytes(bytes.data()),
                                   bytes.size(), scratch->id()) != bytes.size()) {
        return absl::InvalidArgumentError("the library does not take the state");
      }
    } catch (const std::exception& error) {
      return absl::InvalidArgumentError(
          absl::StrCat("the library does not take the state: ", error.what()));
    }
    world().kv.Copy(scratch->id(), state_->id(), 0, -1);
    const uint64_t tokens = range.end - range.start;
    world().cells.Unreserve(tokens);
    reserved_ -= tokens;
    cells_.AddNew(tokens);
    return absl::OkStatus();
  }

  absl::Status Commit(LlamaSequence& sequence) override {
    if (what_.replace) {
      sequence.Replace(std::move(head_.tokens), std::move(head_.drawn), std::move(head_.media),
                       std::move(state_), std::move(cells_));
    } else if (state_ != nullptr) {
      sequence.Promote(what_.range, state_->id(), cells_);
    }
    return absl::OkStatus();
  }

 private:
  const StateImport what_;
  StateHead head_;
  const absl::Span<const std::byte> source_;
  std::unique_ptr<KvSequence> state_;
  KvRun cells_;
  uint64_t reserved_;  // cells that are ours and not used yet
};

}  // namespace

StateSpace LlamaStateSpace(const LlamaWorld& world) {
  StateSpace space;
  space.id = kLlamaKvSpace;
  space.name = "kv";
  space.bytes_per_token = world.layout.bytes_per_token() + sizeof(uint32_t);
  space.boundary_tokens = 1;
  space.encodings = 1;
  // The model, and the form in which its state is written.
  space.compat_key = DigestOf(0x6C6C616D61, world.model->facts().fingerprint,
                              world.layout.bytes_per_token(), world.layout.Fingerprint());
  return space;
}

absl::StatusOr<LlamaSequence*> FindLlamaState(const LlamaWorld& world, SequenceHandle sequence,
                                              SpaceId space) {
  if (absl::Status status = CheckSpace(world, space); !status.ok()) return status;
  return world.sequences.Find(sequence);
}

absl::StatusOr<ExportSize> SizeOfLlamaExport(const LlamaWorld& world, SequenceHandle sequence,
                                             SpaceId space, TokenRange range, uint32_t encoding) {
  const absl::StatusOr<LlamaSequence*> found = FindLlamaState(world, sequence, space);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEncoding(encoding); !status.ok()) return status;
  if (absl::Status status = CheckStateRange(**found, range); !status.ok()) return status;
  if ((*found)->IsMissing(range)) {
    return absl::FailedPreconditionError("part of the range is not on the device");
  }
  if ((*found)->computed() < range.end) {
    if (absl::Status status = world.CheckAdapter(**found); !status.ok()) return status;
  }
  const StateImage image = ImageOf(world, **found, range);
  return ExportSize{image.bytes(), (*found)->version()};
}

absl::StatusOr<Digest> LlamaProvenance(const LlamaWorld& world, SequenceHandle sequence,
                                       SpaceId space, TokenRange range) {
  const absl::StatusOr<LlamaSequence*> found = FindLlamaState(world, sequence, space);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckStateRange(**found, range); !status.ok()) return status;
  return ProvenanceOf(**found, range.end);
}

absl::StatusOr<std::unique_ptr<StateJob>> StartLlamaExport(LlamaWorld& world,
                                                           const StateExport& what,
                                                           absl::Span<std::byte> out) {
  const absl::StatusOr<ExportSize> size =
      SizeOfLlamaExport(world, what.sequence, what.space, what.range, what.encoding);
  if (!size.ok()) return size.status();
  if (out.size() != size->bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("room for ", out.size(), " bytes of state instead of ", size->bytes));
  }
  const LlamaSequence& sequence = **world.sequences.Find(what.sequence);
  return std::make_unique<LlamaExport>(world, what, ImageOf(world, sequence, what.range), out);
}

absl::StatusOr<std::unique_ptr<StateJob>> StartLlamaImport(LlamaWorld& world,
                                                           const StateImport& what,
                                                           absl::Span<const std::byte> bytes) {
  const absl::StatusOr<LlamaSequence*> found = FindLlamaState(world, what.sequence, what.space);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEncoding(what.encoding); !status.ok()) return status;
  absl::Status status = what.replace ? CheckRestore(**found, what, world.model->context_tokens())
                                     : CheckPromote(**found, what);
  if (!status.ok()) return status;
  absl::StatusOr<StateHead> head = ParseStateHead(bytes, what.range, world.model->vocab_size());
  if (!head.ok()) return head.status();
  if (const uint32_t most = PartTokens(world); head->part > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("state in parts of ", head->part, " tokens; at most ", most));
  }
  const StateImage image(world.layout, what.range, head->part, head->media_runs);
  if (bytes.size() != image.bytes()) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes.size(), " bytes of state instead of ", image.bytes()));
  }
  if (absl::Status matches = CheckHead(**found, what, *head); !matches.ok()) return matches;
  if (!world.cells.MakeRoom(image.tokens())) {
    return absl::ResourceExhaustedError("no room for what is imported");
  }
  return std::make_unique<LlamaImport>(world, what, image, *std::move(head), bytes);
}

}  // namespace superfluid
