#ifndef SUPERFLUID_PROTOCOL_MESSAGES_STATE_SYNC_MESSAGES_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_STATE_SYNC_MESSAGES_H_

#include <string>
#include <variant>

#include "protocol/messages/cache_calls.h"
#include "protocol/messages/media_calls.h"
#include "protocol/messages/sampling_calls.h"
#include "protocol/messages/sequence_calls.h"
#include "protocol/messages/status.h"
#include "protocol/messages/transcribe_messages.h"

// The state sync calls: one request, one reply, whose alternative matches the call's.
namespace superfluid::linkw {

using StateSyncCall =
    std::variant<Fork, Trim, ExportSize, CacheEvict, CacheEvictEntries, SnapshotBoundary,
                 LaneSequence, CreateSequence, FreeSequence, CreateGrammar, CreateGrammarStructural,
                 FreeGrammar, CreateLogitBias, FreeLogitBias, Embed, Transcribe, LoraLoad,
                 LoraUnload, GetLoraId, Capabilities, ForwardStage, MediaProbe, MediaEncode,
                 MediaRelease, MediaBind, AdoptSequence, PublishSequence, Unpublish>;

// monostate: none, because the status is not kOk.
using StateSyncReply =
    std::variant<std::monostate, ForkResult, TrimResult, ExportSizeResult, CacheEvictResult,
                 CacheEvictEntriesResult, SnapshotBoundaryResult, LaneSequenceResult,
                 CreateSequenceResult, FreeSequenceResult, CreateGrammarResult, FreeGrammarResult,
                 CreateLogitBiasResult, FreeLogitBiasResult, EmbedResult, TranscribeResult,
                 LoraIdResult, CapabilitiesResult, ForwardStageResult, MediaProbeResult,
                 MediaEncodeResult, MediaReleaseResult, MediaBindResult, AdoptSequenceResult,
                 PublishSequenceResult, UnpublishResult>;

struct StateSyncRequest {
  StateSyncCall call;
  bool operator==(const StateSyncRequest&) const = default;
};

struct StateSyncResult {
  Status status = Status::kOk;
  std::string message;   // if not kOk; of Transcribe also a remark on the audio
  StateSyncReply reply;  // set if kOk; of Transcribe also if cancelled or past the deadline
  bool operator==(const StateSyncResult&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_STATE_SYNC_MESSAGES_H_
