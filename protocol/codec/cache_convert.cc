#include "protocol/codec/cache_convert.h"

#include <cstdint>
#include <utility>

#include "protocol/codec/convert_common.h"

namespace superfluid::linkw {

v8::MatchReq ToProto(const MatchRequest& message) {
  v8::MatchReq proto;
  *proto.mutable_span() = ToProto(message.span);
  proto.mutable_media_deps()->Assign(message.media_deps.begin(), message.media_deps.end());
  return proto;
}

MatchRequest FromProto(v8::MatchReq&& proto) {
  return {FromProto(std::move(*proto.mutable_span())), ToVector<uint64_t>(proto.media_deps())};
}

v8::SpaceMatch ToProto(const SpaceMatch& match) {
  v8::SpaceMatch proto;
  proto.set_space_id(Raw(match.space_id));
  proto.set_matched_tokens(match.matched_tokens);
  return proto;
}

SpaceMatch FromProto(v8::SpaceMatch&& proto) {
  return {SpaceId{proto.space_id()}, proto.matched_tokens()};
}

v8::MatchRes ToProto(const MatchResult& message) {
  v8::MatchRes proto;
  proto.set_status(ToProto(message.status));
  proto.set_message(MessageText(message.message));
  AddEach(message.spaces, proto.mutable_spaces());
  return proto;
}

MatchResult FromProto(v8::MatchRes&& proto) {
  return {FromProto(proto.status()), std::move(*proto.mutable_message()),
          ConvertEach<SpaceMatch>(*proto.mutable_spaces(), FromProto)};
}

v8::SeedAcquire ToProto(const SeedAcquire& message) {
  v8::SeedAcquire proto;
  *proto.mutable_span() = ToProto(message.span);
  proto.set_prefix_len(message.prefix_len);
  proto.set_determinism_class(message.determinism_class);
  proto.mutable_media_deps()->Assign(message.media_deps.begin(), message.media_deps.end());
  return proto;
}

SeedAcquire FromProto(v8::SeedAcquire&& proto) {
  return {FromProto(std::move(*proto.mutable_span())), proto.prefix_len(),
          proto.determinism_class(), ToVector<uint64_t>(proto.media_deps())};
}

v8::SeedGrant ToProto(const SeedGrant& message) {
  v8::SeedGrant proto;
  proto.set_status(ToProto(message.status));
  proto.set_message(MessageText(message.message));
  proto.set_seed_handle(Raw(message.seed_handle));
  proto.set_ttl_ms(message.ttl_ms);
  proto.set_ttl_ticks(message.ttl_ticks);
  return proto;
}

SeedGrant FromProto(v8::SeedGrant&& proto) {
  return {FromProto(proto.status()), std::move(*proto.mutable_message()),
          SeedHandle{proto.seed_handle()}, proto.ttl_ms(), proto.ttl_ticks()};
}

v8::SeedRelease ToProto(const SeedRelease& message) {
  v8::SeedRelease proto;
  proto.set_seed_handle(Raw(message.seed_handle));
  return proto;
}

SeedRelease FromProto(v8::SeedRelease&& proto) { return {SeedHandle{proto.seed_handle()}}; }

}  // namespace superfluid::linkw
