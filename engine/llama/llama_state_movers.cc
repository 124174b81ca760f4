#include "engine/llama/llama_state_movers.h"

#include <llama.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/cache/token_provenance.h"
#include "engine/llama/state_image.h"
#include "engine/sampling/mix.h"

namespace superfluid {
namespace {

constexpr uint64_t kPartBytes = uint64_t{4} << 20U;
constexpr uint32_t kMaxPart = 1024;
constexpr uint32_t kMinPart = 16;

// Tokens that a step moves. With sliding-window attention the library leaves out of a sequence's
// state what its last token does not see, so a part must not be longer than the window.
uint32_t PartTokens(const LlamaTokenModel& model) {
  const uint64_t per_token = std::max<uint64_t>(model.layout.bytes_per_token(), 1);
  const auto fit = static_cast<uint32_t>(std::min<uint64_t>(kPartBytes / per_token, kMaxPart));
  const uint32_t part = std::max(fit, kMinPart);
  const uint32_t window = model.model->window_tokens();
  return window == 0 ? part : std::max(1U, std::min(part, window));
}

StateImage ImageOf(const LlamaTokenModel& model, const SessionSequence& sequence,
                   TokenRange range) {
  const size_t runs = MediaRuns(sequence.media().marks(), range).size();
  return {model.layout, range, PartTokens(model), runs};
}

Digest DigestOfTokens(uint64_t adapter, absl::Span<const Token> tokens, const MediaMap& media) {
  TokenProvenance provenance(adapter);
  for (size_t i = 0; i < tokens.size(); ++i) provenance.Add(tokens[i], MediaAt(media, i));
  return provenance.digest();
}

// Whether the part of `all` within the range is `some`.
bool SameMedia(const MediaMap& all, const MediaMap& some, TokenRange range) {
  return std::equal(all.lower_bound(range.start), all.lower_bound(range.end), some.begin(),
                    some.end());
}

// Whether what comes with the state is what the sequence has there.
bool SameHistory(const LlamaSequence& sequence, TokenRange range, const StateHead& head) {
  if (sequence.tokens().subspan(range.start, head.tokens.size()) !=
      absl::MakeConstSpan(head.tokens)) {
    return false;
  }
  for (size_t i = 0; i < head.drawn.size(); ++i) {
    if (sequence.drawn(range.start + i) != head.drawn[i]) return false;
  }
  return SameMedia(sequence.media().marks(), head.media, range);
}

// InvalidArgument: the tokens and media that come with the state are not those of its provenance.
absl::Status CheckHead(const LlamaSequence& sequence, const StateImport& what,
                       const StateHead& head) {
  const bool same = what.replace ? DigestOfTokens(AdapterOfProvenance(what.provenance), head.tokens,
                                                  head.media) == what.provenance
                                 : SameHistory(sequence, what.range, head);
  if (same) return absl::OkStatus();
  return absl::InvalidArgumentError("the tokens or media are not those of this provenance");
}

LlamaSequence& Of(SessionSequence& sequence) { return static_cast<LlamaSequence&>(sequence); }

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

class LlamaExport final : public StateMover {
 public:
  LlamaExport(LlamaTokenModel& model, const StateExport& what, StateImage image,
              absl::Span<std::byte> out)
      : model_(model), what_(what), image_(image), out_(out) {}

  absl::Status Prepare(SessionSequence& sequence) override;
  uint64_t parts() const override { return image_.parts(); }
  uint64_t BytesMoved(uint64_t moved) const override { return image_.PartOffset(moved); }

  absl::Status Move(SessionSequence& sequence, uint64_t part) override {
    const absl::StatusOr<int32_t> id = Of(sequence).Id();
    if (!id.ok()) return id.status();
    const std::unique_ptr<KvSequence> scratch = KvSequence::Take(model_.kv);
    if (scratch == nullptr) return NoSequenceLeft();
    const TokenRange range = image_.PartRange(part);
    model_.kv.Copy(*id, scratch->id(), range.start, static_cast<int64_t>(range.end));
    const uint64_t from = image_.PartOffset(part);
    const uint64_t size = image_.PartOffset(part + 1) - from;
    try {
      llama_context* context = model_.model->context();
      if (llama_state_seq_get_size(context, scratch->id()) == size &&
          llama_state_seq_get_data(context, LibraryBytes(out_.data() + from), size,
                                   scratch->id()) == size) {
        model_.layout.HideSequence(out_.subspan(from, size), range.end - range.start);
        return absl::OkStatus();
      }
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): as if it wrote too little
    }
    return absl::InternalError("the library wrote state of another size");
  }

  absl::Status Commit(SessionSequence& sequence) override {
    if (what_.free_device_copy) Of(sequence).Demote(what_.range);
    return absl::OkStatus();
  }

 private:
  LlamaTokenModel& model_;
  const StateExport what_;
  const StateImage image_;
  const absl::Span<std::byte> out_;
};

absl::Status LlamaExport::Prepare(SessionSequence& sequence) {
  const TokenRange& range = what_.range;
  std::vector<bool> drawn;
  drawn.reserve(image_.tokens());
  for (uint64_t i = range.start; i < range.end; ++i) drawn.push_back(sequence.drawn(i));
  const auto head = image_.Head(sequence.tokens().subspan(range.start, image_.tokens()), drawn,
                                MediaRuns(sequence.media().marks(), range));
  std::memcpy(out_.data(), head.data(), head.size());
  return absl::OkStatus();
}

class LlamaImport final : public StateMover {
 public:
  LlamaImport(LlamaTokenModel& model, const StateImport& what, StateImage image, StateHead head,
              absl::Span<const std::byte> bytes)
      : model_(model),
        what_(what),
        image_(image),
        head_(std::move(head)),
        source_(bytes),
        cells_(model.cells),
        reserved_(image.tokens()) {
    model_.cells.Reserve(reserved_);
    model_.tentative_tokens += image_.tokens();
  }
  ~LlamaImport() override {
    model_.cells.Unreserve(reserved_);
    model_.tentative_tokens -= image_.tokens();
  }

  absl::Status Prepare(SessionSequence& /*sequence*/) override {
    if (image_.parts() == 0) return absl::OkStatus();
    state_ = KvSequence::Take(model_.kv);
    return state_ == nullptr ? NoSequenceLeft() : absl::OkStatus();
  }
  uint64_t parts() const override { return image_.parts(); }
  uint64_t BytesMoved(uint64_t moved) const override { return image_.PartOffset(moved); }

  absl::Status Move(SessionSequence& /*sequence*/, uint64_t part) override {
    const uint64_t from = image_.PartOffset(part);
    const absl::Span<const std::byte> bytes =
        source_.subspan(from, image_.PartOffset(part + 1) - from);
    const TokenRange range = image_.PartRange(part);
    if (absl::Status status = model_.layout.Check(bytes, range); !status.ok()) return status;
    const std::unique_ptr<KvSequence> scratch = KvSequence::Take(model_.kv);
    if (scratch == nullptr) return NoSequenceLeft();
    try {
      if (llama_state_seq_set_data(model_.model->context(), LibraryBytes(bytes.data()),
                                   bytes.size(), scratch->id()) != bytes.size()) {
        return absl::InvalidArgumentError("the library does not take the state");
      }
    } catch (const std::exception& error) {
      return absl::InvalidArgumentError(
          absl::StrCat("the library does not take the state: ", error.what()));
    }
    model_.kv.Copy(scratch->id(), state_->id(), 0, -1);
    const uint64_t tokens = range.end - range.start;
    model_.cells.Unreserve(tokens);
    reserved_ -= tokens;
    cells_.AddNew(tokens);
    return absl::OkStatus();
  }

  absl::Status Commit(SessionSequence& sequence) override {
    if (what_.replace) {
      Of(sequence).Replace(std::move(head_.tokens), std::move(head_.drawn), std::move(head_.media),
                           std::move(state_), std::move(cells_));
    } else if (state_ != nullptr) {
      Of(sequence).Promote(what_.range, state_->id(), cells_);
    }
    return absl::OkStatus();
  }

 private:
  LlamaTokenModel& model_;
  const StateImport what_;
  const StateImage image_;
  StateHead head_;
  const absl::Span<const std::byte> source_;
  std::unique_ptr<KvSequence> state_;
  KvRun cells_;
  uint64_t reserved_;  // cells that are ours and not used yet
};

}  // namespace

StateSpace LlamaStateSpace(const LlamaTokenModel& model) {
  StateSpace space;
  space.id = kLlamaKvSpace;
  space.name = "kv";
  space.bytes_per_token = model.layout.bytes_per_token() + sizeof(uint32_t);
  space.boundary_tokens = 1;
  space.encodings = 1;
  // The model, and the form in which its state is written.
  space.compat_key = DigestOf(0x6C6C616D61, model.model->facts().fingerprint,
                              model.layout.bytes_per_token(), model.layout.Fingerprint());
  return space;
}

uint64_t LlamaStateBytes(const LlamaTokenModel& model, const SessionSequence& sequence,
                         TokenRange range) {
  return ImageOf(model, sequence, range).bytes();
}

absl::StatusOr<std::unique_ptr<StateMover>> StartLlamaExport(LlamaTokenModel& model,
                                                             const LlamaSequence& sequence,
                                                             const StateExport& what,
                                                             absl::Span<std::byte> out) {
  return std::make_unique<LlamaExport>(model, what, ImageOf(model, sequence, what.range), out);
}

absl::StatusOr<std::unique_ptr<StateMover>> StartLlamaImport(LlamaTokenModel& model,
                                                             const LlamaSequence& sequence,
                                                             const StateImport& what,
                                                             absl::Span<const std::byte> bytes) {
  absl::StatusOr<StateHead> head = ParseStateHead(bytes, what.range, model.model->vocab_size());
  if (!head.ok()) return head.status();
  if (const uint32_t most = PartTokens(model); head->part > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("state in parts of ", head->part, " tokens; at most ", most));
  }
  const StateImage image(model.layout, what.range, head->part, head->media_runs);
  if (bytes.size() != image.bytes()) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes.size(), " bytes of state instead of ", image.bytes()));
  }
  if (absl::Status matches = CheckHead(sequence, what, *head); !matches.ok()) return matches;
  if (!model.cells.MakeRoom(image.tokens())) {
    return absl::ResourceExhaustedError("no room for what is imported");
  }
  return std::make_unique<LlamaImport>(model, what, image, *std::move(head), bytes);
}

}  // namespace superfluid
