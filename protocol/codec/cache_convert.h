#ifndef SUPERFLUID_PROTOCOL_CODEC_CACHE_CONVERT_H_
#define SUPERFLUID_PROTOCOL_CODEC_CACHE_CONVERT_H_

#include "protocol/linkw.pb.h"
#include "protocol/messages/cache_messages.h"

// The prefix cache: matches and seeds.
namespace superfluid::linkw {

v8::MatchReq ToProto(const MatchRequest& message);
MatchRequest FromProto(v8::MatchReq&& proto);

v8::SpaceMatch ToProto(const SpaceMatch& match);
SpaceMatch FromProto(v8::SpaceMatch&& proto);

v8::MatchRes ToProto(const MatchResult& message);
MatchResult FromProto(v8::MatchRes&& proto);

v8::SeedAcquire ToProto(const SeedAcquire& message);
SeedAcquire FromProto(v8::SeedAcquire&& proto);

v8::SeedGrant ToProto(const SeedGrant& message);
SeedGrant FromProto(v8::SeedGrant&& proto);

v8::SeedRelease ToProto(const SeedRelease& message);
SeedRelease FromProto(v8::SeedRelease&& proto);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_CACHE_CONVERT_H_
