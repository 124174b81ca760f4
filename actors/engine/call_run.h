#ifndef SUPERFLUID_ACTORS_ENGINE_CALL_RUN_H_
#define SUPERFLUID_ACTORS_ENGINE_CALL_RUN_H_

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "actors/engine/engine_link.h"
#include "engine/call_control.h"
#include "engine/engine.h"
#include "engine/generation.h"
#include "protocol/messages/messages.h"
#include "shm/segment.h"

namespace superfluid {

struct CallContext {
  // The names of the calls that the engine's capabilities list; nullopt: they list none. What is
  // not listed is UNSUPPORTED, whatever else is wrong with it.
  std::optional<std::set<std::string>> listed;
};

// Answers the requests that are one call of the engine: the state calls of the contract's section 9
// other than Transcribe, MATCH, SEED_ACQUIRE, SEED_RELEASE and STRATEGY_REGISTER. Handles and
// tokens are checked before the engine sees them, and what comes back before the peer does.
//
// Threads: the engine's. Lifetime: one call; everything passed in must outlive it.
class CallRun {
 public:
  // What a call names that was looked at before.
  struct Inputs {
    std::shared_ptr<const Segment> segment;           // its buffer, if it names one
    std::optional<absl::StatusOr<std::string>> file;  // what the engine opens, or why not
  };

  // `control`: what a call that may take long is given.
  CallRun(Engine& engine, EngineLink& link, const CallContext& context, const CallControl& control,
          Inputs inputs);

  linkw::WorkerMessage Run(const linkw::DriverMessage& message);

 private:
  using Reply = absl::StatusOr<linkw::StateSyncReply>;

  linkw::WorkerMessage Answer(const linkw::StateSyncRequest& request);
  linkw::WorkerMessage Answer(const linkw::MatchRequest& request);
  linkw::WorkerMessage Answer(const linkw::SeedAcquire& request);
  linkw::WorkerMessage Answer(const linkw::SeedRelease& request);
  linkw::WorkerMessage Answer(const linkw::StrategyRegister& request);

  // call_run_sequences.cc
  Reply Call(const linkw::Fork& call);
  Reply Call(const linkw::Trim& call);
  Reply Call(const linkw::ExportSize& call);
  Reply Call(const linkw::SnapshotBoundary& call);
  Reply Call(const linkw::LaneSequence& call);
  Reply Call(const linkw::CreateSequence& call);
  Reply Call(const linkw::FreeSequence& call);
  Reply Call(const linkw::CacheEvict& call);
  Reply Call(const linkw::CacheEvictEntries& call);
  Reply Call(const linkw::AdoptSequence& call);
  Reply Call(const linkw::PublishSequence& call);
  Reply Call(const linkw::Unpublish& call);

  // call_run_model.cc
  Reply Call(const linkw::CreateGrammar& call);
  Reply Call(const linkw::CreateGrammarStructural& call);
  Reply Call(const linkw::FreeGrammar& call);
  Reply Call(const linkw::CreateLogitBias& call);
  Reply Call(const linkw::FreeLogitBias& call);
  Reply Call(const linkw::Embed& call);
  Reply Call(const linkw::ForwardStage& call);
  Reply Call(const linkw::LoraLoad& call);
  Reply Call(const linkw::LoraUnload& call);
  Reply Call(const linkw::GetLoraId& call);
  Reply Call(const linkw::Capabilities& call);
  Reply Call(const linkw::MediaProbe& call);
  Reply Call(const linkw::MediaEncode& call);
  Reply Call(const linkw::MediaRelease& call);
  Reply Call(const linkw::MediaBind& call);
  Reply Call(const linkw::Transcribe& call);

  absl::StatusOr<std::string> File() const;
  absl::Status CheckListed(const linkw::DriverMessage& message) const;
  absl::Status CheckSequence(linkw::SequenceId sequence) const;
  absl::Status CheckTokens(absl::Span<const Token> tokens) const;
  // The tokens of a span in the token-in ring, checked against the vocabulary.
  absl::StatusOr<std::vector<Token>> ReadTokens(const linkw::TokenSpan& span) const;
  // What an error of a call that was given the control comes to: a call that was told to stop says
  // so in its own way.
  absl::Status Stopped(const absl::Status& status) const;
  // Notes a handle that the engine made.
  absl::Status Keep(HandleKind kind, uint64_t handle);

  Engine& engine_;
  Generation* const generation_;  // null: the engine does not generate
  EngineLink& link_;
  const CallContext& context_;
  const CallControl& control_;
  const Inputs inputs_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_CALL_RUN_H_
