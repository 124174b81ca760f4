#include "actors/engine/call_run.h"

#include <array>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "actors/runtime/engine_status.h"
#include "actors/runtime/refusal.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

absl::Status NoGeneration() {
  return absl::UnimplementedError("the engine does not generate tokens");
}

StrategySpec ToEngine(const linkw::StrategyRegister& request) {
  StrategySpec spec;
  spec.strategy_id = request.strategy_id;
  spec.impl_version = request.impl_version;
  spec.impl_hash = request.impl_hash;
  spec.config_hash = request.config_hash;
  for (const linkw::StrategyArtifact& artifact : request.artifacts) {
    spec.artifacts.push_back({.role = artifact.role,
                              .content_hash = artifact.content_hash,
                              .byte_size = artifact.byte_size,
                              .path = artifact.load_path});
  }
  for (const linkw::TapSpec& tap : request.taps) {
    spec.taps.push_back(
        {.layer = tap.layer, .tensor = tap.tensor, .dtype = tap.dtype, .layout = tap.layout});
  }
  for (const linkw::CapabilityRequirement& requirement : request.capabilities) {
    spec.requirements.push_back({.kind_id = requirement.kind_id, .params = requirement.params});
  }
  spec.target_archs = request.target_archs;
  spec.kernel_caps_required = request.kernel_caps_required;
  spec.est_state_bytes = request.est_state_bytes;
  spec.claimed_exactness = request.claimed_exactness;
  spec.rng_contract_version = request.rng_contract_version;
  return spec;
}

linkw::StrategyGrant ToWire(const StrategyTerms& terms) {
  linkw::StrategyGrant grant;
  grant.strategy_slot = linkw::StrategySlot{static_cast<uint32_t>(terms.slot)};
  for (const StrategyCertificate& certificate : terms.certificates) {
    grant.certificates.push_back(
        {.cert_id = certificate.cert_id,
         .exactness = certificate.exactness,
         .sampling_modes = certificate.sampling_modes,
         .param_domain = certificate.param_domain,
         .grammar_allowed = certificate.grammar_allowed,
         .logit_bias_allowed = certificate.logit_bias_allowed,
         .verification_shape_class = certificate.verification_shape_class,
         .admissible_host_identities = certificate.admissible_host_identities});
  }
  for (const StateSpace& space : terms.state_spaces) {
    grant.state_spaces.push_back(superfluid::ToWire(space));
  }
  grant.reserved_bytes = terms.reserved_bytes;
  return grant;
}

// By the alternatives of StateSyncCall, as linkw.proto names them; null: every engine has it.
constexpr std::array kCallNames = {"fork",
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
                                   "transcribe",
                                   "lora_load",
                                   "lora_unload",
                                   "lora_id",
                                   static_cast<const char*>(nullptr),
                                   "forward_stage",
                                   "media_probe",
                                   "media_encode",
                                   "media_release",
                                   "media_bind",
                                   "adopt_sequence",
                                   "publish_sequence",
                                   "unpublish"};
static_assert(kCallNames.size() == std::variant_size_v<linkw::StateSyncCall>);

const char* CallName(const linkw::DriverMessage& message) {
  if (const auto* request = std::get_if<linkw::StateSyncRequest>(&message)) {
    return kCallNames.at(request->call.index());
  }
  if (std::holds_alternative<linkw::MatchRequest>(message)) return "match";
  if (std::holds_alternative<linkw::SeedAcquire>(message)) return "seed";
  if (std::holds_alternative<linkw::StrategyRegister>(message)) return "strategy";
  return nullptr;
}

}  // namespace

CallRun::CallRun(Engine& engine, EngineLink& link, const CallContext& context,
                 const CallControl& control, Inputs inputs)
    : engine_(engine),
      generation_(engine.generation()),
      link_(link),
      context_(context),
      control_(control),
      inputs_(std::move(inputs)) {}

linkw::WorkerMessage CallRun::Run(const linkw::DriverMessage& message) {
  if (const absl::Status listed = CheckListed(message); !listed.ok()) {
    return Refuse(linkw::TypeOf(message), EngineStatus(listed), MessageOf(listed));
  }
  return std::visit(
      [this](const auto& request) -> linkw::WorkerMessage {
        if constexpr (requires { Answer(request); }) {
          return Answer(request);
        } else {
          return linkw::Error{.status = linkw::Status::kInternal,
                              .message = "a request that is no call of the engine",
                              .detail = {},
                              .fatal = false};
        }
      },
      message);
}

absl::Status CallRun::CheckListed(const linkw::DriverMessage& message) const {
  const char* const name = CallName(message);
  if (!context_.listed || name == nullptr || context_.listed->contains(name)) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat("the engine does not support ", name));
}

linkw::WorkerMessage CallRun::Answer(const linkw::StateSyncRequest& request) {
  Reply reply = NoGeneration();
  if (generation_ != nullptr || std::holds_alternative<linkw::Capabilities>(request.call)) {
    reply = std::visit([this](const auto& call) { return Call(call); }, request.call);
  }
  if (reply.ok()) {
    return linkw::StateSyncResult{
        .status = linkw::Status::kOk, .message = {}, .reply = *std::move(reply)};
  }
  return linkw::StateSyncResult{
      .status = EngineStatus(reply.status()), .message = MessageOf(reply.status()), .reply = {}};
}

linkw::WorkerMessage CallRun::Answer(const linkw::MatchRequest& request) {
  const auto refuse = [](const absl::Status& status) {
    return linkw::MatchResult{
        .status = EngineStatus(status), .message = MessageOf(status), .spaces = {}};
  };
  if (generation_ == nullptr) return refuse(NoGeneration());
  const absl::StatusOr<std::vector<Token>> tokens = ReadTokens(request.span);
  if (!tokens.ok()) return refuse(tokens.status());
  const absl::StatusOr<std::vector<SpaceMatch>> matches =
      generation_->Match(*tokens, request.media_deps);
  if (!matches.ok()) return refuse(matches.status());
  linkw::MatchResult result;
  for (const SpaceMatch& match : *matches) {
    result.spaces.push_back({.space_id = linkw::SpaceId{static_cast<uint32_t>(match.space)},
                             .matched_tokens = match.matched_tokens});
  }
  return result;
}

linkw::WorkerMessage CallRun::Answer(const linkw::SeedAcquire& request) {
  const auto refuse = [](const absl::Status& status) {
    // Not cached is an answer, not a handle that does not exist.
    return linkw::SeedGrant{
        .status = absl::IsNotFound(status) ? linkw::FromAbsl(status) : EngineStatus(status),
        .message = MessageOf(status)};
  };
  if (generation_ == nullptr) return refuse(NoGeneration());
  const absl::StatusOr<std::vector<Token>> tokens = ReadTokens(request.span);
  if (!tokens.ok()) return refuse(tokens.status());
  if (request.prefix_len > tokens->size()) {
    return refuse(absl::InvalidArgumentError(
        absl::StrCat("a prefix of ", request.prefix_len, " tokens of a span of ", tokens->size())));
  }
  const absl::StatusOr<Lease> lease = generation_->AcquireSeed(
      *tokens, request.prefix_len, request.determinism_class, request.media_deps);
  if (!lease.ok()) return refuse(lease.status());
  const auto seed = static_cast<uint64_t>(lease->seed);
  if (absl::Status kept = link_.handles.AddLease(seed); !kept.ok()) return refuse(kept);
  return linkw::SeedGrant{.seed_handle = linkw::SeedHandle{seed},
                          .ttl_ms = lease->ttl_ms,
                          .ttl_ticks = lease->ttl_ticks};
}

// Idempotent and without a reply: the caller sends nothing for a Telemetry.
linkw::WorkerMessage CallRun::Answer(const linkw::SeedRelease& request) {
  const auto seed = static_cast<uint64_t>(request.seed_handle);
  if (generation_ != nullptr && link_.handles.Knows(HandleKind::kSeed, seed)) {
    link_.handles.Remove(HandleKind::kSeed, seed);
    // It may have expired or been adopted meanwhile: then there is nothing to release.
    generation_->ReleaseSeed(SeedHandle{seed}).IgnoreError();
  }
  return linkw::Telemetry{};
}

linkw::WorkerMessage CallRun::Answer(const linkw::StrategyRegister& request) {
  const auto refuse = [](const absl::Status& status) {
    linkw::StrategyGrant grant;
    grant.status = EngineStatus(status);
    grant.message = MessageOf(status);
    return grant;
  };
  if (generation_ == nullptr) return refuse(NoGeneration());
  if (absl::Status room = link_.handles.CheckRoom(HandleKind::kStrategy); !room.ok()) {
    return refuse(room);
  }
  const absl::StatusOr<StrategyTerms> terms = generation_->RegisterStrategy(ToEngine(request));
  if (!terms.ok()) return refuse(terms.status());
  const absl::Status kept = Keep(HandleKind::kStrategy, static_cast<uint64_t>(terms->slot));
  return kept.ok() ? ToWire(*terms) : refuse(kept);
}

absl::Status CallRun::CheckSequence(linkw::SequenceId sequence) const {
  return link_.handles.Check(HandleKind::kSequence, static_cast<uint64_t>(sequence));
}

absl::Status CallRun::CheckTokens(absl::Span<const Token> tokens) const {
  for (const Token token : tokens) {
    if (token >= engine_.info().vocab_size) {
      return absl::InvalidArgumentError(absl::StrCat(
          "token ", token, " is outside the vocabulary (", engine_.info().vocab_size, " tokens)"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Token>> CallRun::ReadTokens(const linkw::TokenSpan& span) const {
  if (!link_.rings) {
    return absl::FailedPreconditionError("token spans need all three rings to be attached");
  }
  absl::StatusOr<std::vector<Token>> tokens = link_.rings->ReadTokens(span);
  if (!tokens.ok()) return tokens;
  if (absl::Status valid = CheckTokens(*tokens); !valid.ok()) return valid;
  return tokens;
}

absl::Status CallRun::Stopped(const absl::Status& status) const {
  return absl::IsCancelled(status) ? StoppedStatus(control_.token().reason()) : status;
}

absl::Status CallRun::Keep(HandleKind kind, uint64_t handle) {
  return link_.handles.Add(kind, handle);
}

}  // namespace superfluid
