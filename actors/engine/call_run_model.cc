// State calls about the model: grammars, biases, embeddings, stages, adapters, media.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "actors/engine/call_run.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

// Of a hidden state in a buffer, which may be larger than any memory there is.
constexpr uint64_t kMostHiddenBytes = uint64_t{256} << 20;
// It is copied in parts, with a look at the token and a sign of life for each.
constexpr size_t kCopiedAtOnce = size_t{8} << 20;

linkw::MediaInfo ToWire(const MediaInfo& info) {
  return {.n_tokens = info.n_tokens,
          .image_token_id = info.image_token,
          .boi_token_id = info.boi_token,
          .eoi_token_id = info.eoi_token,
          .preprocess_fp = info.preprocess_fp};
}

absl::string_view View(const std::string& text) { return {text.data(), text.size()}; }

}  // namespace

CallRun::Reply CallRun::Call(const linkw::CreateGrammar& call) {
  if (absl::Status room = link_.handles.CheckRoom(HandleKind::kGrammar); !room.ok()) return room;
  const absl::StatusOr<GrammarHandle> grammar =
      generation_->CreateGrammar(View(call.json_schema), control_);
  if (!grammar.ok()) return Stopped(grammar.status());
  const auto id = static_cast<uint64_t>(*grammar);
  if (absl::Status kept = Keep(HandleKind::kGrammar, id); !kept.ok()) return kept;
  return linkw::CreateGrammarResult{linkw::GrammarHandle{id}};
}

CallRun::Reply CallRun::Call(const linkw::CreateGrammarStructural& call) {
  if (absl::Status room = link_.handles.CheckRoom(HandleKind::kGrammar); !room.ok()) return room;
  const absl::StatusOr<GrammarHandle> grammar =
      generation_->CreateStructuralGrammar(View(call.tag_json), control_);
  if (!grammar.ok()) return Stopped(grammar.status());
  const auto id = static_cast<uint64_t>(*grammar);
  if (absl::Status kept = Keep(HandleKind::kGrammar, id); !kept.ok()) return kept;
  return linkw::CreateGrammarResult{linkw::GrammarHandle{id}};
}

CallRun::Reply CallRun::Call(const linkw::FreeGrammar& call) {
  const auto id = static_cast<uint64_t>(call.grammar_handle);
  if (absl::Status known = link_.handles.Check(HandleKind::kGrammar, id); !known.ok()) return known;
  const absl::Status freed = generation_->FreeGrammar(GrammarHandle{id});
  if (!freed.ok()) return freed;
  link_.handles.Remove(HandleKind::kGrammar, id);
  return linkw::FreeGrammarResult{};
}

CallRun::Reply CallRun::Call(const linkw::CreateLogitBias& call) {
  if (call.tokens.size() != call.values.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(call.tokens.size(), " tokens, but ", call.values.size(), " values"));
  }
  for (const float value : call.values) {
    if (std::isnan(value)) return absl::InvalidArgumentError("a bias is not a number");
  }
  if (absl::Status valid = CheckTokens(call.tokens); !valid.ok()) return valid;
  if (absl::Status room = link_.handles.CheckRoom(HandleKind::kLogitBias); !room.ok()) return room;
  const absl::StatusOr<LogitBiasHandle> bias =
      generation_->CreateLogitBias(call.tokens, call.values);
  if (!bias.ok()) return bias.status();
  const auto id = static_cast<uint64_t>(*bias);
  if (absl::Status kept = Keep(HandleKind::kLogitBias, id); !kept.ok()) return kept;
  return linkw::CreateLogitBiasResult{linkw::LogitBiasHandle{id}};
}

CallRun::Reply CallRun::Call(const linkw::FreeLogitBias& call) {
  const auto id = static_cast<uint64_t>(call.handle);
  if (absl::Status known = link_.handles.Check(HandleKind::kLogitBias, id); !known.ok()) {
    return known;
  }
  const absl::Status freed = generation_->FreeLogitBias(LogitBiasHandle{id});
  if (!freed.ok()) return freed;
  link_.handles.Remove(HandleKind::kLogitBias, id);
  return linkw::FreeLogitBiasResult{};
}

CallRun::Reply CallRun::Call(const linkw::Embed& call) {
  if (absl::Status valid = CheckTokens(call.tokens); !valid.ok()) return valid;
  absl::StatusOr<std::vector<float>> embedding = generation_->Embed(call.tokens, control_);
  if (!embedding.ok()) return Stopped(embedding.status());
  return linkw::EmbedResult{*std::move(embedding)};
}

CallRun::Reply CallRun::Call(const linkw::ForwardStage& call) {
  if (absl::Status valid = CheckTokens(call.tokens); !valid.ok()) return valid;
  StageWork work{.tokens = call.tokens,
                 .start_layer = call.start_layer,
                 .end_layer = call.end_layer,
                 .has_hidden = !std::holds_alternative<std::monostate>(call.hidden_in),
                 .hidden = {}};
  std::string copied;  // the peer may still change its buffer
  if (const auto* hidden = std::get_if<std::string>(&call.hidden_in)) work.hidden = View(*hidden);
  if (const auto* span = std::get_if<linkw::BufferSpan>(&call.hidden_in)) {
    if (span->length > kMostHiddenBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("a hidden state of ", span->length, " bytes; at most ", kMostHiddenBytes));
    }
    const absl::StatusOr<absl::Span<std::byte>> bytes =
        inputs_.segment->Slice(span->offset, span->length);
    if (!bytes.ok()) {
      return absl::InvalidArgumentError("the hidden state does not lie inside its buffer");
    }
    copied.resize(bytes->size());
    for (size_t at = 0; at < copied.size(); at += kCopiedAtOnce) {
      if (absl::Status stopped = control_.GoOn(); !stopped.ok()) return Stopped(stopped);
      std::memcpy(copied.data() + at, bytes->data() + at,
                  std::min(kCopiedAtOnce, copied.size() - at));
    }
    work.hidden = View(copied);
  }
  absl::StatusOr<StageOutput> output = generation_->ForwardStage(work, control_);
  if (!output.ok()) return Stopped(output.status());
  linkw::ForwardStageResult result;
  if (auto* hidden = std::get_if<std::string>(&*output)) {
    result.output = std::move(*hidden);
  } else {
    result.output = std::get<Token>(*output);
  }
  return result;
}

// Returns what the engine opens for the file that the call names.
absl::StatusOr<std::string> CallRun::File() const {
  if (inputs_.file) return *inputs_.file;
  return linkw::MakeStatus(linkw::Status::kInternal, "a call came without its file");
}

CallRun::Reply CallRun::Call(const linkw::LoraLoad& /*call*/) {
  const absl::StatusOr<std::string> file = File();
  if (!file.ok()) return file.status();
  const absl::StatusOr<AdapterId> adapter = generation_->LoadAdapter(*file, control_);
  if (!adapter.ok()) return Stopped(adapter.status());
  return linkw::LoraIdResult{linkw::LoraId{static_cast<uint64_t>(*adapter)}};
}

CallRun::Reply CallRun::Call(const linkw::LoraUnload& /*call*/) {
  const absl::Status unloaded = generation_->UnloadAdapter();
  if (!unloaded.ok()) return unloaded;
  return linkw::LoraIdResult{};
}

CallRun::Reply CallRun::Call(const linkw::GetLoraId& /*call*/) {
  const absl::StatusOr<AdapterId> adapter = generation_->CurrentAdapter();
  if (!adapter.ok()) return adapter.status();
  return linkw::LoraIdResult{linkw::LoraId{static_cast<uint64_t>(*adapter)}};
}

CallRun::Reply CallRun::Call(const linkw::Capabilities& /*call*/) {
  return linkw::CapabilitiesResult{engine_.CapabilitiesJson()};
}

CallRun::Reply CallRun::Call(const linkw::MediaProbe& /*call*/) {
  const absl::StatusOr<std::string> file = File();
  if (!file.ok()) return file.status();
  const absl::StatusOr<MediaInfo> info = generation_->ProbeMedia(*file, control_);
  if (!info.ok()) return Stopped(info.status());
  return linkw::MediaProbeResult{ToWire(*info)};
}

CallRun::Reply CallRun::Call(const linkw::MediaEncode& /*call*/) {
  if (absl::Status room = link_.handles.CheckRoom(HandleKind::kMedia); !room.ok()) return room;
  const absl::StatusOr<std::string> file = File();
  if (!file.ok()) return file.status();
  const absl::StatusOr<EncodedMedia> media = generation_->EncodeMedia(*file, control_);
  if (!media.ok()) return Stopped(media.status());
  const auto id = static_cast<uint64_t>(media->handle);
  if (absl::Status kept = Keep(HandleKind::kMedia, id); !kept.ok()) return kept;
  return linkw::MediaEncodeResult{.media_handle = linkw::MediaHandle{id},
                                  .info = ToWire(media->info)};
}

CallRun::Reply CallRun::Call(const linkw::MediaRelease& call) {
  const auto id = static_cast<uint64_t>(call.media_handle);
  if (absl::Status known = link_.handles.Check(HandleKind::kMedia, id); !known.ok()) return known;
  const absl::Status released = generation_->ReleaseMedia(MediaHandle{id});
  if (!released.ok()) return released;
  link_.handles.Remove(HandleKind::kMedia, id);
  return linkw::MediaReleaseResult{};
}

CallRun::Reply CallRun::Call(const linkw::MediaBind& call) {
  const auto id = static_cast<uint64_t>(call.media_handle);
  if (absl::Status known = link_.handles.Check(HandleKind::kMedia, id); !known.ok()) return known;
  const absl::Status bound = generation_->BindMedia(LaneTag{static_cast<uint64_t>(call.lane_tag)},
                                                    MediaHandle{id}, call.token_offset);
  if (!bound.ok()) return bound;
  return linkw::MediaBindResult{};
}

CallRun::Reply CallRun::Call(const linkw::Transcribe& /*call*/) {
  return absl::InternalError("a transcription is no call");
}

}  // namespace superfluid
