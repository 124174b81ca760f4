// HELLO and its answer.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/conformance/checks_loading.h"
#include "tests/conformance/families.h"
#include "tests/conformance/link.h"
#include "tests/conformance/wire.h"

namespace superfluid::conformance {
namespace {

using linkw::MessageType;

Peer MakePeer(Context& context) { return Peer(context.Connect(), context.until()); }

void BeforeHello(Context& context) {
  for (const linkw::DriverMessage& message : std::vector<linkw::DriverMessage>{
           linkw::StateSyncRequest{linkw::Capabilities{}}, linkw::BufRelease{}, linkw::TickSubmit{},
           linkw::Telemetry{}}) {
    Peer peer = MakePeer(context);
    peer.Send(message);
    ExpectLinkError(peer, {Status::kProtocolError});
  }
  Peer peer = MakePeer(context);
  peer.SendFrame(0x0777, "");
  ExpectLinkError(peer, {Status::kProtocolError});
}

void PingBeforeHello(Context& context) {
  Peer peer = MakePeer(context);
  peer.Await<linkw::Pong>(peer.Send(linkw::Ping{}));
  peer.Await<linkw::HelloAck>(peer.Send(MakeHello(linkw::Role::kObserver)));
  peer.Await<linkw::Pong>(peer.Send(linkw::Ping{}));
}

void SecondHello(Context& context) {
  Link link(context);
  link.Send(MakeHello(linkw::Role::kDriver));
  link.ExpectLinkError({Status::kProtocolError});
}

void HighestCommonVersion(Context& context) {
  for (const linkw::VersionRange range :
       {linkw::VersionRange{8, 8}, linkw::VersionRange{1, 8}, linkw::VersionRange{8, 65535}}) {
    Peer peer = MakePeer(context);
    linkw::Hello hello = MakeHello(linkw::Role::kObserver);
    hello.proto_versions = range;
    ExpectEq(peer.Await<linkw::HelloAck>(peer.Send(hello)).chosen_version, 8, "chosen_version");
  }
}

void NoCommonVersion(Context& context) {
  for (const linkw::VersionRange range :
       {linkw::VersionRange{1, 7}, linkw::VersionRange{9, 9}, linkw::VersionRange{9, 65535}}) {
    Peer peer = MakePeer(context);
    linkw::Hello hello = MakeHello(linkw::Role::kDriver);
    hello.proto_versions = range;
    peer.Send(hello);
    ExpectLinkError(peer, {Status::kVersionMismatch});
  }
}

void EmptyRange(Context& context) {
  for (const linkw::VersionRange range :
       {linkw::VersionRange{9, 8}, linkw::VersionRange{0, 8}, linkw::VersionRange{0, 0}}) {
    Peer peer = MakePeer(context);
    linkw::Hello hello = MakeHello(linkw::Role::kDriver);
    hello.proto_versions = range;
    peer.Send(hello);
    ExpectLinkError(peer, {Status::kInvalidArgument});
  }
}

void HelloThatBreaksARule(Context& context) {
  Peer peer = MakePeer(context);
  const std::string versions = BytesField(1, VarintField(1, 8) + VarintField(2, 8));
  const auto refused = [&peer](const std::string& payload, std::string_view what) {
    const auto error = peer.Await<linkw::Error>(
        peer.SendFrame(static_cast<uint16_t>(MessageType::kHello), payload));
    ExpectEq(error.status, Status::kInvalidArgument, what);
    Expect(!error.fatal, "the ERROR is fatal");
  };
  refused(versions, "no role");
  refused(versions + VarintField(3, 7), "a role without a name");
  refused(VarintField(3, 2), "no versions");
  refused(versions + VarintField(3, 2) + BytesField(2, "\xff\xff"), "a name that is not UTF-8");
  refused(versions + VarintField(3, 2) + BytesField(2, std::string(257, 'n')),
          "a name of 257 bytes");
  refused(versions + VarintField(3, 2) + BytesField(2, std::string("a\0b", 3)),
          "a NUL in the name");
  peer.Await<linkw::HelloAck>(peer.Send(MakeHello(linkw::Role::kObserver)));
}

void FatalErrorsNameTheirMessage(Context& context) {
  const std::string_view what = "correlation of a fatal ERROR";
  {
    Peer peer = MakePeer(context);
    linkw::Hello hello = MakeHello(linkw::Role::kDriver);
    hello.proto_versions = {9, 10};
    const uint64_t seq = peer.Send(hello);
    ExpectEq(ExpectLinkError(peer, {Status::kVersionMismatch}), seq, what);
  }
  {
    Peer peer = MakePeer(context);
    const uint64_t seq = peer.Send(linkw::BufRelease{});
    ExpectEq(ExpectLinkError(peer, {Status::kProtocolError}), seq, what);
  }
  {
    Link link(context, linkw::Role::kObserver);
    const uint64_t seq = link.Send(MakeHello(linkw::Role::kObserver));
    ExpectEq(link.ExpectLinkError({Status::kProtocolError}), seq, what);
  }
  {
    Link link(context, linkw::Role::kObserver);
    const uint64_t seq = link.peer().SendFrame(static_cast<uint16_t>(MessageType::kPing), "\xff");
    ExpectEq(link.ExpectLinkError({Status::kProtocolError}), seq, what);
  }
  Link link(context, linkw::Role::kObserver);
  link.peer().SendBytes(std::string(32, 'x'));
  ExpectEq(link.ExpectLinkError({Status::kProtocolError}), uint64_t{0}, what);
}

void SkippedBeforeHello(Context& context) {
  Peer peer = MakePeer(context);
  peer.SendFrame(0x8777, "any");
  peer.SendFrame(static_cast<uint16_t>(MessageType::kTickEmit), "any");
  peer.Await<linkw::HelloAck>(peer.Send(MakeHello(linkw::Role::kObserver)));
}

void UnknownFeatures(Context& context) {
  Link link(context, linkw::Role::kObserver, {"no-such-feature", "another", ""});
  link.Ping();
}

void FramesBehindHello(Context& context) {
  for (const linkw::Role role : {linkw::Role::kObserver, linkw::Role::kDriver}) {
    Peer peer = MakePeer(context);
    const uint64_t hello = peer.next_seq();
    std::string bytes = peer.Encode(MakeHello(role));
    const uint64_t call = peer.next_seq();
    bytes += peer.Encode(linkw::StateSyncRequest{linkw::Capabilities{}});
    peer.SendBytes(bytes);
    peer.Await<linkw::HelloAck>(hello);
    ExpectEq(peer.Await<linkw::StateSyncResult>(call).status, Status::kOk, "CAPABILITIES");
  }
}

void LimitsAreAnnounced(Context& context) {
  const Facts& facts = context.facts();
  const linkw::Limits& limits = facts.ack.limits;
  Expect(limits.max_frame >= 65'536 && limits.max_frame <= 67'108'864,
         "max_frame is out of bounds");
  ExpectEq(limits.op_window, 16u, "op_window");
  Expect(limits.max_lanes <= 256, "max_lanes is over 256");
  ExpectEq(limits.max_lanes > 0, facts.Has("tick"), "max_lanes over 0 means ticks");
  Expect(limits.max_transcriptions > 0 || !facts.Has("transcribe"),
         "max_transcriptions is 0 for an engine with speech");
  ExpectEq(limits.ring_specs.size(), size_t{3}, "rings");
  for (const RingSpec& want : {kTokenInRing, kTokenOutRing, kLogitsRing}) {
    const auto& specs = limits.ring_specs;
    const auto found =
        std::find_if(specs.begin(), specs.end(), [&want](const linkw::RingSpec& spec) {
          return static_cast<uint32_t>(spec.ring_id) == want.id;
        });
    Expect(found != specs.end(), "a ring is missing");
    ExpectEq(found->slot_bytes, want.slot_bytes, "slot_bytes");
    ExpectEq(found->slots, want.slots, "slots");
    ExpectEq(found->kind == linkw::RingKind::kLogits, want.id == 3, "the kind of ring 3 is LOGITS");
  }
}

void SameBundleHash(Context& context) {
  const linkw::HelloAck first = Link(context, linkw::Role::kObserver).ack();
  const linkw::HelloAck second = Link(context).ack();
  Expect(first.engine_bundle_hash == second.engine_bundle_hash, "two links see different hashes");
  Expect(first.engine_bundle_hash != linkw::Hash{}, "the hash is all zero");
}

void LinkTokens(Context& context) {
  std::set<linkw::LinkToken> tokens;
  for (int i = 0; i < 5; ++i) {
    const linkw::HelloAck ack = Link(context).ack();
    Expect(ack.link_token != linkw::LinkToken{}, "a driver's token is all zero");
    Expect(tokens.insert(ack.link_token).second, "two links have the same token");
  }
  const linkw::HelloAck observer = Link(context, linkw::Role::kObserver).ack();
  Expect(observer.link_token == linkw::LinkToken{}, "an observer has a token");
}

const std::set<std::string>& KnownCalls() {
  static const auto* const kCalls = new std::set<std::string>{"transcribe",
                                                              "tick",
                                                              "match",
                                                              "seed",
                                                              "state_ops",
                                                              "strategy",
                                                              "fork",
                                                              "trim",
                                                              "export_size",
                                                              "cache_evict",
                                                              "cache_evict_entries",
                                                              "snapshot_boundary",
                                                              "lane_sequence",
                                                              "create_sequence",
                                                              "free_sequence",
                                                              "create_grammar",
                                                              "create_grammar_structural",
                                                              "free_grammar",
                                                              "create_logit_bias",
                                                              "free_logit_bias",
                                                              "embed",
                                                              "lora_load",
                                                              "lora_unload",
                                                              "lora_id",
                                                              "capabilities",
                                                              "forward_stage",
                                                              "media_probe",
                                                              "media_encode",
                                                              "media_release",
                                                              "media_bind",
                                                              "adopt_sequence",
                                                              "publish_sequence",
                                                              "unpublish"};
  return *kCalls;
}

void CapabilitiesAreWhole(Context& context) {
  const Facts& facts = context.facts();
  for (const std::string& call : facts.calls) {
    Expect(KnownCalls().contains(call), "\"calls\" has " + Show(call));
  }
  const auto json = nlohmann::json::parse(facts.ack.capabilities_json);
  if (facts.Has("tick")) {
    Expect(facts.vocab_size >= 1, "an engine with ticks and no vocab_size");
    Expect(facts.context_tokens >= 1, "an engine with ticks and no context_tokens");
  }
  if (facts.Has("state_ops")) Expect(json.contains("state_spaces"), "no state_spaces");
  if (facts.Has("transcribe")) {
    const auto most = json.find("max_transcriptions");
    Expect(most != json.end() && most->is_number_unsigned() && *most >= 1,
           "an engine with speech and no max_transcriptions");
  }
}

void StateSpacesAreWhole(Context& context) {
  const auto& spaces = context.facts().ack.state_space_descriptors;
  Expect(!spaces.empty(), "an engine with state ops and no state space");
  std::set<linkw::SpaceId> ids;
  for (const linkw::StateSpaceDescriptor& space : spaces) {
    Expect(ids.insert(space.space_id).second, "two state spaces have the same id");
    Expect(space.boundary_tokens >= 1, "boundary_tokens is 0");
    Expect((space.encodings & 1) != 0, "encoding 0 is not among the encodings");
  }
}

void CapabilitiesCall(Context& context) {
  Link link(context);
  const auto result = link.Ok<linkw::CapabilitiesResult>(linkw::Capabilities{});
  ExpectEq(result.json, link.ack().capabilities_json, "the JSON of CAPABILITIES");
}

}  // namespace

void AddHandshakeChecks(std::vector<Check>& checks) {
  checks.push_back({"HELLO-1", "a message before HELLO", BeforeHello});
  checks.push_back({"HELLO-1", "PING before HELLO", PingBeforeHello});
  AddLoadingChecks(checks);
  checks.push_back({"HELLO-1 FRAME-9", "what is skipped before HELLO", SkippedBeforeHello});
  checks.push_back({"FRAME-17", "fatal errors name their message", FatalErrorsNameTheirMessage});
  checks.push_back({"HELLO-2", "a second HELLO", SecondHello});
  checks.push_back({"HELLO-3", "the highest common version is chosen", HighestCommonVersion});
  checks.push_back({"HELLO-4", "no common version", NoCommonVersion});
  checks.push_back({"HELLO-5", "a range of versions that is none", EmptyRange});
  checks.push_back({"HELLO-6 FRAME-13", "a HELLO that breaks a rule", HelloThatBreaksARule});
  checks.push_back({"HELLO-7", "unknown features", UnknownFeatures});
  checks.push_back({"HELLO-8", "frames right behind HELLO", FramesBehindHello});
  checks.push_back({"HELLO-9", "the limits", LimitsAreAnnounced});
  checks.push_back({"HELLO-10", "one bundle hash", SameBundleHash});
  checks.push_back({"HELLO-11", "link tokens", LinkTokens});
  checks.push_back({"HELLO-12 HELLO-13", "the capabilities", CapabilitiesAreWhole});
  checks.push_back({"HELLO-14", "the state spaces", StateSpacesAreWhole, {"state_ops"}});
  checks.push_back({"HELLO-15", "CAPABILITIES says the same", CapabilitiesCall});
}

}  // namespace superfluid::conformance
