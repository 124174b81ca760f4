#include <string>
#include <utility>
#include <variant>

#include "protocol/codec/convert_common.h"
#include "protocol/codec/state_sync_convert.h"
#include "protocol/codec/transcribe_convert.h"

namespace superfluid::linkw {
namespace {

// Puts a call into its member of the oneof.
struct CallWriter {
  v8::StateSyncReq& proto;

  void operator()(const Fork& call) const {
    proto.mutable_fork()->set_parent(Raw(call.parent));
    proto.mutable_fork()->set_flags(call.flags);
  }
  void operator()(const Trim& call) const {
    v8::Trim& out = *proto.mutable_trim();
    out.set_sequence(Raw(call.sequence));
    out.set_space_id(Raw(call.space_id));
    out.set_new_len(call.new_len);
  }
  void operator()(const ExportSize& call) const {
    v8::ExportSize& out = *proto.mutable_export_size();
    out.set_sequence(Raw(call.sequence));
    out.set_space_id(Raw(call.space_id));
    *out.mutable_range() = ToProto(call.range);
    out.set_encoding(call.encoding);
  }
  void operator()(const CacheEvict& call) const {
    v8::CacheEvict& out = *proto.mutable_cache_evict();
    out.set_bytes_target(call.bytes_target);
    out.mutable_policy()->set_evictable_classes(call.policy.evictable_classes);
    out.mutable_policy()->set_protected_quota_bytes(call.policy.protected_quota_bytes);
    out.mutable_policy()->set_max_evict_bytes(call.policy.max_evict_bytes);
  }
  void operator()(const CacheEvictEntries& call) const {
    v8::CacheEvictEntries& out = *proto.mutable_cache_evict_entries();
    for (const CacheKey& key : call.keys) {
      v8::CacheKey& out_key = *out.add_keys();
      out_key.set_compat_key(ToWireBytes(key.compat_key));
      out_key.set_provenance_digest(ToWireBytes(key.provenance_digest));
    }
  }
  void operator()(const SnapshotBoundary& call) const {
    v8::SnapshotBoundary& out = *proto.mutable_snapshot_boundary();
    out.set_sequence(Raw(call.sequence));
    out.set_space_id(Raw(call.space_id));
    out.set_cap(call.cap);
  }
  void operator()(const LaneSequence& call) const {
    proto.mutable_lane_sequence()->set_lane_tag(Raw(call.lane_tag));
  }
  void operator()(const CreateSequence& /*call*/) const { proto.mutable_create_sequence(); }
  void operator()(const FreeSequence& call) const {
    proto.mutable_free_sequence()->set_sequence(Raw(call.sequence));
  }
  void operator()(const CreateGrammar& call) const {
    proto.mutable_create_grammar()->set_json_schema(call.json_schema);
  }
  void operator()(const CreateGrammarStructural& call) const {
    proto.mutable_create_grammar_structural()->set_tag_json(call.tag_json);
  }
  void operator()(const FreeGrammar& call) const {
    proto.mutable_free_grammar()->set_grammar_handle(Raw(call.grammar_handle));
  }
  void operator()(const CreateLogitBias& call) const {
    v8::CreateLogitBias& out = *proto.mutable_create_logit_bias();
    out.mutable_tokens()->Assign(call.tokens.begin(), call.tokens.end());
    out.mutable_values()->Assign(call.values.begin(), call.values.end());
  }
  void operator()(const FreeLogitBias& call) const {
    proto.mutable_free_logit_bias()->set_handle(Raw(call.handle));
  }
  void operator()(const Embed& call) const {
    proto.mutable_embed()->mutable_tokens()->Assign(call.tokens.begin(), call.tokens.end());
  }
  void operator()(const Transcribe& call) const { *proto.mutable_transcribe() = ToProto(call); }
  void operator()(const LoraLoad& call) const {
    proto.mutable_lora_load()->set_adapter_path(call.adapter_path);
  }
  void operator()(const LoraUnload& /*call*/) const { proto.mutable_lora_unload(); }
  void operator()(const GetLoraId& /*call*/) const { proto.mutable_lora_id(); }
  void operator()(const Capabilities& /*call*/) const { proto.mutable_capabilities(); }
  void operator()(const ForwardStage& call) const {
    v8::ForwardStage& out = *proto.mutable_forward_stage();
    out.mutable_tokens()->Assign(call.tokens.begin(), call.tokens.end());
    out.set_start_layer(call.start_layer);
    out.set_end_layer(call.end_layer);
    if (const auto* bytes = std::get_if<std::string>(&call.hidden_in)) {
      out.set_hidden_inline(*bytes);
    } else if (const auto* span = std::get_if<BufferSpan>(&call.hidden_in)) {
      *out.mutable_hidden_buffer() = ToProto(*span);
    }
  }
  void operator()(const MediaProbe& call) const {
    proto.mutable_media_probe()->set_path(call.path);
  }
  void operator()(const MediaEncode& call) const {
    proto.mutable_media_encode()->set_path(call.path);
  }
  void operator()(const MediaRelease& call) const {
    proto.mutable_media_release()->set_media_handle(Raw(call.media_handle));
  }
  void operator()(const MediaBind& call) const {
    v8::MediaBind& out = *proto.mutable_media_bind();
    out.set_lane_tag(Raw(call.lane_tag));
    out.set_media_handle(Raw(call.media_handle));
    out.set_token_offset(call.token_offset);
  }
  void operator()(const AdoptSequence& call) const {
    proto.mutable_adopt_sequence()->set_sequence(Raw(call.sequence));
    *proto.mutable_adopt_sequence()->mutable_span() = ToProto(call.span);
  }
  void operator()(const PublishSequence& call) const {
    proto.mutable_publish_sequence()->set_sequence(Raw(call.sequence));
    *proto.mutable_publish_sequence()->mutable_span() = ToProto(call.span);
  }
  void operator()(const Unpublish& call) const {
    *proto.mutable_unpublish()->mutable_span() = ToProto(call.span);
  }
};

Trim Read(const v8::Trim& in) {
  return {SequenceId{in.sequence()}, SpaceId{in.space_id()}, in.new_len()};
}

ExportSize Read(v8::ExportSize& in) {
  return {SequenceId{in.sequence()}, SpaceId{in.space_id()},
          FromProto(std::move(*in.mutable_range())), in.encoding()};
}

CacheEvict Read(const v8::CacheEvict& in) {
  const v8::EvictPolicy& policy = in.policy();
  return {in.bytes_target(),
          {policy.evictable_classes(), policy.protected_quota_bytes(), policy.max_evict_bytes()}};
}

CacheEvictEntries Read(const v8::CacheEvictEntries& in) {
  CacheEvictEntries call;
  call.keys.reserve(static_cast<size_t>(in.keys_size()));
  for (const v8::CacheKey& key : in.keys()) {
    call.keys.push_back(
        {FromWireBytes<Hash>(key.compat_key()), FromWireBytes<Hash>(key.provenance_digest())});
  }
  return call;
}

SnapshotBoundary Read(const v8::SnapshotBoundary& in) {
  return {SequenceId{in.sequence()}, SpaceId{in.space_id()}, in.cap()};
}

absl::StatusOr<CreateLogitBias> Read(const v8::CreateLogitBias& in) {
  if (in.tokens_size() == in.values_size()) {
    return CreateLogitBias{ToVector<Token>(in.tokens()), ToVector<float>(in.values())};
  }
  return MakeStatus(Status::kInvalidArgument,
                    "StateSyncReq.create_logit_bias: as many values as tokens are needed");
}

ForwardStage Read(v8::ForwardStage& in) {
  ForwardStage call{ToVector<Token>(in.tokens()), in.start_layer(), in.end_layer(), {}};
  if (in.has_hidden_inline()) {
    call.hidden_in = std::move(*in.mutable_hidden_inline());
  } else if (in.has_hidden_buffer()) {
    call.hidden_in = FromProto(std::move(*in.mutable_hidden_buffer()));
  }
  return call;
}

MediaBind Read(const v8::MediaBind& in) {
  return {LaneTag{in.lane_tag()}, MediaHandle{in.media_handle()}, in.token_offset()};
}

// Calls about the model, speech, images and the cache; the rest of ReadCall.
absl::StatusOr<StateSyncCall> ReadModelCall(v8::StateSyncReq& in) {
  switch (in.call_case()) {
    case v8::StateSyncReq::kEmbed:
      return Embed{ToVector<Token>(in.embed().tokens())};
    case v8::StateSyncReq::kTranscribe:
      return FromProto(std::move(*in.mutable_transcribe()));
    case v8::StateSyncReq::kLoraLoad:
      return LoraLoad{std::move(*in.mutable_lora_load()->mutable_adapter_path())};
    case v8::StateSyncReq::kLoraUnload:
      return LoraUnload{};
    case v8::StateSyncReq::kLoraId:
      return GetLoraId{};
    case v8::StateSyncReq::kCapabilities:
      return Capabilities{};
    case v8::StateSyncReq::kForwardStage:
      return Read(*in.mutable_forward_stage());
    case v8::StateSyncReq::kMediaProbe:
      return MediaProbe{std::move(*in.mutable_media_probe()->mutable_path())};
    case v8::StateSyncReq::kMediaEncode:
      return MediaEncode{std::move(*in.mutable_media_encode()->mutable_path())};
    case v8::StateSyncReq::kMediaRelease:
      return MediaRelease{MediaHandle{in.media_release().media_handle()}};
    case v8::StateSyncReq::kMediaBind:
      return Read(in.media_bind());
    case v8::StateSyncReq::kAdoptSequence:
      return AdoptSequence{SequenceId{in.adopt_sequence().sequence()},
                           FromProto(std::move(*in.mutable_adopt_sequence()->mutable_span()))};
    case v8::StateSyncReq::kPublishSequence:
      return PublishSequence{SequenceId{in.publish_sequence().sequence()},
                             FromProto(std::move(*in.mutable_publish_sequence()->mutable_span()))};
    case v8::StateSyncReq::kUnpublish:
      return Unpublish{FromProto(std::move(*in.mutable_unpublish()->mutable_span()))};
    default:
      break;
  }
  return MakeStatus(Status::kUnsupported, "StateSyncReq.call: missing, or unknown to this version");
}

absl::StatusOr<StateSyncCall> ReadCall(v8::StateSyncReq& in) {
  switch (in.call_case()) {
    case v8::StateSyncReq::kFork:
      return Fork{SequenceId{in.fork().parent()}, in.fork().flags()};
    case v8::StateSyncReq::kTrim:
      return Read(in.trim());
    case v8::StateSyncReq::kExportSize:
      return Read(*in.mutable_export_size());
    case v8::StateSyncReq::kCacheEvict:
      return Read(in.cache_evict());
    case v8::StateSyncReq::kCacheEvictEntries:
      return Read(in.cache_evict_entries());
    case v8::StateSyncReq::kSnapshotBoundary:
      return Read(in.snapshot_boundary());
    case v8::StateSyncReq::kLaneSequence:
      return LaneSequence{LaneTag{in.lane_sequence().lane_tag()}};
    case v8::StateSyncReq::kCreateSequence:
      return CreateSequence{};
    case v8::StateSyncReq::kFreeSequence:
      return FreeSequence{SequenceId{in.free_sequence().sequence()}};
    case v8::StateSyncReq::kCreateGrammar:
      return CreateGrammar{std::move(*in.mutable_create_grammar()->mutable_json_schema())};
    case v8::StateSyncReq::kCreateGrammarStructural:
      return CreateGrammarStructural{
          std::move(*in.mutable_create_grammar_structural()->mutable_tag_json())};
    case v8::StateSyncReq::kFreeGrammar:
      return FreeGrammar{GrammarHandle{in.free_grammar().grammar_handle()}};
    case v8::StateSyncReq::kCreateLogitBias:
      return Read(in.create_logit_bias());
    case v8::StateSyncReq::kFreeLogitBias:
      return FreeLogitBias{LogitBiasHandle{in.free_logit_bias().handle()}};
    default:
      return ReadModelCall(in);
  }
}

}  // namespace

v8::StateSyncReq ToProto(const StateSyncRequest& message) {
  v8::StateSyncReq proto;
  std::visit(CallWriter{proto}, message.call);
  return proto;
}

absl::StatusOr<StateSyncRequest> FromProto(v8::StateSyncReq&& proto) {
  absl::StatusOr<StateSyncCall> call = ReadCall(proto);
  if (!call.ok()) return call.status();
  return StateSyncRequest{*std::move(call)};
}

}  // namespace superfluid::linkw
