#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "protocol/codec/convert_common.h"
#include "protocol/codec/state_sync_convert.h"
#include "protocol/codec/transcribe_convert.h"

namespace superfluid::linkw {
namespace {

constexpr size_t kMaxCapabilitiesBytes = 1048576;

void Write(const MediaInfo& info, v8::MediaInfo& out) {
  out.set_n_tokens(info.n_tokens);
  out.set_image_token_id(info.image_token_id);
  out.set_boi_token_id(info.boi_token_id);
  out.set_eoi_token_id(info.eoi_token_id);
  out.set_preprocess_fp(info.preprocess_fp);
}

MediaInfo Read(const v8::MediaInfo& in) {
  return {in.n_tokens(), in.image_token_id(), in.boi_token_id(), in.eoi_token_id(),
          in.preprocess_fp()};
}

// Puts a reply into its member of the oneof.
struct ReplyWriter {
  v8::StateSyncRes& proto;

  void operator()(std::monostate /*none*/) const {}
  void operator()(const ForkResult& reply) const {
    proto.mutable_fork()->set_child(Raw(reply.child));
  }
  void operator()(const TrimResult& /*reply*/) const { proto.mutable_trim(); }
  void operator()(const ExportSizeResult& reply) const {
    proto.mutable_export_size()->set_required_bytes(reply.required_bytes);
    proto.mutable_export_size()->set_sizing_gen(reply.sizing_gen);
  }
  void operator()(const CacheEvictResult& reply) const {
    proto.mutable_cache_evict()->set_bytes_freed(reply.bytes_freed);
  }
  void operator()(const CacheEvictEntriesResult& /*reply*/) const {
    proto.mutable_cache_evict_entries();
  }
  void operator()(const SnapshotBoundaryResult& reply) const {
    proto.mutable_snapshot_boundary()->set_boundary(reply.boundary);
  }
  void operator()(const LaneSequenceResult& reply) const {
    proto.mutable_lane_sequence()->set_sequence(Raw(reply.sequence));
  }
  void operator()(const CreateSequenceResult& reply) const {
    proto.mutable_create_sequence()->set_sequence(Raw(reply.sequence));
  }
  void operator()(const FreeSequenceResult& /*reply*/) const { proto.mutable_free_sequence(); }
  void operator()(const CreateGrammarResult& reply) const {
    proto.mutable_create_grammar()->set_grammar_handle(Raw(reply.grammar_handle));
  }
  void operator()(const FreeGrammarResult& /*reply*/) const { proto.mutable_free_grammar(); }
  void operator()(const CreateLogitBiasResult& reply) const {
    proto.mutable_create_logit_bias()->set_handle(Raw(reply.handle));
  }
  void operator()(const FreeLogitBiasResult& /*reply*/) const { proto.mutable_free_logit_bias(); }
  void operator()(const EmbedResult& reply) const {
    proto.mutable_embed()->mutable_embedding()->Assign(reply.embedding.begin(),
                                                       reply.embedding.end());
  }
  void operator()(const TranscribeResult& reply) const {
    *proto.mutable_transcribe() = ToProto(reply);
  }
  void operator()(const LoraIdResult& reply) const {
    proto.mutable_lora_id()->set_lora_id(Raw(reply.lora_id));
  }
  void operator()(const CapabilitiesResult& reply) const {
    proto.mutable_capabilities()->set_json(ToUtf8(reply.json, kMaxCapabilitiesBytes));
  }
  void operator()(const ForwardStageResult& reply) const {
    v8::ForwardStageResult& out = *proto.mutable_forward_stage();
    if (const auto* token = std::get_if<Token>(&reply.output)) {
      out.set_token(*token);
    } else {
      out.set_hidden(std::get<std::string>(reply.output));
    }
  }
  void operator()(const MediaProbeResult& reply) const {
    Write(reply.info, *proto.mutable_media_probe());
  }
  void operator()(const MediaEncodeResult& reply) const {
    proto.mutable_media_encode()->set_media_handle(Raw(reply.media_handle));
    Write(reply.info, *proto.mutable_media_encode()->mutable_info());
  }
  void operator()(const MediaReleaseResult& /*reply*/) const { proto.mutable_media_release(); }
  void operator()(const MediaBindResult& /*reply*/) const { proto.mutable_media_bind(); }
  void operator()(const AdoptSequenceResult& reply) const {
    proto.mutable_adopt_sequence()->set_seed_handle(Raw(reply.seed_handle));
  }
  void operator()(const PublishSequenceResult& /*reply*/) const {
    proto.mutable_publish_sequence();
  }
  void operator()(const UnpublishResult& /*reply*/) const { proto.mutable_unpublish(); }
};

ForwardStageResult Read(v8::ForwardStageResult& in) {
  if (in.has_token()) return {Token{in.token()}};
  return {std::move(*in.mutable_hidden())};
}

StateSyncReply ReadReply(v8::StateSyncRes& in) {
  switch (in.reply_case()) {
    case v8::StateSyncRes::kFork:
      return ForkResult{SequenceId{in.fork().child()}};
    case v8::StateSyncRes::kTrim:
      return TrimResult{};
    case v8::StateSyncRes::kExportSize:
      return ExportSizeResult{in.export_size().required_bytes(), in.export_size().sizing_gen()};
    case v8::StateSyncRes::kCacheEvict:
      return CacheEvictResult{in.cache_evict().bytes_freed()};
    case v8::StateSyncRes::kCacheEvictEntries:
      return CacheEvictEntriesResult{};
    case v8::StateSyncRes::kSnapshotBoundary:
      return SnapshotBoundaryResult{in.snapshot_boundary().boundary()};
    case v8::StateSyncRes::kLaneSequence:
      return LaneSequenceResult{SequenceId{in.lane_sequence().sequence()}};
    case v8::StateSyncRes::kCreateSequence:
      return CreateSequenceResult{SequenceId{in.create_sequence().sequence()}};
    case v8::StateSyncRes::kFreeSequence:
      return FreeSequenceResult{};
    case v8::StateSyncRes::kCreateGrammar:
      return CreateGrammarResult{GrammarHandle{in.create_grammar().grammar_handle()}};
    case v8::StateSyncRes::kFreeGrammar:
      return FreeGrammarResult{};
    case v8::StateSyncRes::kCreateLogitBias:
      return CreateLogitBiasResult{LogitBiasHandle{in.create_logit_bias().handle()}};
    case v8::StateSyncRes::kFreeLogitBias:
      return FreeLogitBiasResult{};
    case v8::StateSyncRes::kEmbed:
      return EmbedResult{ToVector<float>(in.embed().embedding())};
    case v8::StateSyncRes::kTranscribe:
      return FromProto(std::move(*in.mutable_transcribe()));
    case v8::StateSyncRes::kLoraId:
      return LoraIdResult{LoraId{in.lora_id().lora_id()}};
    case v8::StateSyncRes::kCapabilities:
      return CapabilitiesResult{std::move(*in.mutable_capabilities()->mutable_json())};
    case v8::StateSyncRes::kForwardStage:
      return Read(*in.mutable_forward_stage());
    case v8::StateSyncRes::kMediaProbe:
      return MediaProbeResult{Read(in.media_probe())};
    case v8::StateSyncRes::kMediaEncode:
      return MediaEncodeResult{MediaHandle{in.media_encode().media_handle()},
                               Read(in.media_encode().info())};
    case v8::StateSyncRes::kMediaRelease:
      return MediaReleaseResult{};
    case v8::StateSyncRes::kMediaBind:
      return MediaBindResult{};
    case v8::StateSyncRes::kAdoptSequence:
      return AdoptSequenceResult{SeedHandle{in.adopt_sequence().seed_handle()}};
    case v8::StateSyncRes::kPublishSequence:
      return PublishSequenceResult{};
    case v8::StateSyncRes::kUnpublish:
      return UnpublishResult{};
    case v8::StateSyncRes::REPLY_NOT_SET:
      break;
  }
  return std::monostate{};
}

}  // namespace

v8::StateSyncRes ToProto(const StateSyncResult& message) {
  v8::StateSyncRes proto;
  proto.set_status(ToProto(message.status));
  proto.set_message(MessageText(message.message));
  std::visit(ReplyWriter{proto}, message.reply);
  return proto;
}

absl::StatusOr<StateSyncResult> FromProto(v8::StateSyncRes&& proto) {
  StateSyncResult result;
  result.status = FromProto(proto.status());
  result.message = std::move(*proto.mutable_message());
  result.reply = ReadReply(proto);
  if (result.status == Status::kOk && std::holds_alternative<std::monostate>(result.reply)) {
    return MakeStatus(Status::kInvalidArgument,
                      "StateSyncRes.reply: missing, or unknown to this version");
  }
  return result;
}

}  // namespace superfluid::linkw
