#include "tests/protocol/samples.h"

#include <cstdint>
#include <string>

namespace superfluid::linkw {
namespace {

Hash HashOf(uint8_t first) {
  Hash hash{};
  for (uint8_t& byte : hash) byte = first++;
  return hash;
}

TokenSpan Span(uint32_t base) {
  return {.ring_id = RingId{base},
          .slot = base + 1,
          .generation = base + 2,
          .offset = base + 3,
          .count = base + 4};
}

RingSpec Spec() { return {kLogitsRing, RingKind::kLogits, 272, 32}; }

MemCounters Mem() { return {11, 12, 13, 14, 15, 16}; }

Lane SampleLane() {
  return {.lane_tag = LaneTag{1},
          .sequence = SequenceId{2},
          .input = Span(10),
          .kind = LaneKind::kVerify,
          .max_tokens = 3,
          .sampling = {.temperature = 0.5F,
                       .top_k = 4,
                       .top_p = 0.25F,
                       .min_p = 0.125F,
                       .repetition_penalty = 1.5F,
                       .seed = 5},
          .grammar_handle = GrammarHandle{6},
          .logit_bias_handle = LogitBiasHandle{7},
          .stop_tokens = {20, 21},
          .strategy_slot = StrategySlot{8},
          .draft_tokens = {30, 31},
          .want_logits = true,
          .stop_slot = 9};
}

Transcribe Call(AudioSourceSpec audio) {
  return {.audio = std::move(audio),
          .language = "en",
          .translate = true,
          .timestamps = true,
          .prompt = "gr\xC3\xBC\xC3\x9F",
          .stream = true,
          .partial_results = true,
          .deadline_ms = 1,
          .control_slot = 2,
          .label = "req_1"};
}

TranscriptSegment Segment() {
  return {.start_ms = 1,
          .end_ms = 2,
          .text = "two words",
          .avg_logprob = -0.5F,
          .no_speech_prob = 0.25F,
          .compression_ratio = 1.5F,
          .temperature = 0.125F,
          .words = {{3, 4, "two", 0.75F}, {5, 6, "words", 1}}};
}

TranscribeSegment SegmentMessage() {
  TranscribeSegment message;
  static_cast<TranscriptSegment&>(message) = Segment();
  message.index = 7;
  message.is_partial = true;
  message.audio_ms = 8;
  message.audio_total_ms = 9;
  return message;
}

TranscribeResult Transcript() {
  return {.text = "two words",
          .language = "en",
          .duration_ms = 1,
          .segments = {Segment()},
          .stats = {2, 3, 4, 5, 6, 7}};
}

StateSpaceDescriptor Space() { return {SpaceId{1}, "kv", 2, 3, 4, HashOf(5)}; }

StateOpDone Done() { return {OpHandle{1}, OpState::kFailed, Status::kOutOfMemory, "no memory", 2}; }

std::vector<StateSyncCall> Calls() {
  return {
      Fork{SequenceId{1}, 2},
      Trim{SequenceId{1}, SpaceId{2}, 3},
      ExportSize{SequenceId{1}, SpaceId{2}, {3, 4}, 5},
      CacheEvict{1, {2, 3, 4}},
      CacheEvictEntries{{{HashOf(1), HashOf(2)}, {HashOf(3), HashOf(4)}}},
      SnapshotBoundary{SequenceId{1}, SpaceId{2}, 3},
      LaneSequence{LaneTag{1}},
      CreateSequence{},
      FreeSequence{SequenceId{1}},
      CreateGrammar{"{\"type\":\"object\"}"},
      CreateGrammarStructural{"{\"begin\":\"<t>\"}"},
      FreeGrammar{GrammarHandle{1}},
      CreateLogitBias{{1, 2}, {0.5F, -1.5F}},
      FreeLogitBias{LogitBiasHandle{1}},
      Embed{{1, 2, 3}},
      Call(AudioPath{"/media/talk.flac"}),
      Call(AudioBuffer{BufId{1}, 2, 3, EncodedFile{}}),
      Call(AudioBuffer{BufId{1}, 2, 3, PcmFormat{4, 5, SampleFormat::kF32}}),
      Call(AudioLive{{16000, 1, SampleFormat::kS16}}),
      LoraLoad{"/models/adapter.gguf"},
      LoraUnload{},
      GetLoraId{},
      Capabilities{},
      ForwardStage{{1, 2}, 3, 4, {}},
      ForwardStage{{1, 2}, 3, 4, std::string("hidden")},
      ForwardStage{{1, 2}, 3, 4, BufferSpan{BufId{5}, 6, 7}},
      MediaProbe{"/media/image.png"},
      MediaEncode{"/media/image.png"},
      MediaRelease{MediaHandle{1}},
      MediaBind{LaneTag{1}, MediaHandle{2}, 3},
      AdoptSequence{SequenceId{1}, Span(10)},
      PublishSequence{SequenceId{1}, Span(10)},
      Unpublish{Span(10)},
  };
}

std::vector<StateSyncReply> Replies() {
  return {
      ForkResult{SequenceId{1}},
      TrimResult{},
      ExportSizeResult{1, 2},
      CacheEvictResult{1},
      CacheEvictEntriesResult{},
      SnapshotBoundaryResult{1},
      LaneSequenceResult{SequenceId{1}},
      CreateSequenceResult{SequenceId{1}},
      FreeSequenceResult{},
      CreateGrammarResult{GrammarHandle{1}},
      FreeGrammarResult{},
      CreateLogitBiasResult{LogitBiasHandle{1}},
      FreeLogitBiasResult{},
      EmbedResult{{0.5F, 1.5F}},
      Transcript(),
      LoraIdResult{LoraId{1}},
      CapabilitiesResult{"{}"},
      ForwardStageResult{std::string("hidden")},
      ForwardStageResult{Token{1}},
      MediaProbeResult{{1, 2, 3, 4, 5}},
      MediaEncodeResult{MediaHandle{1}, {2, 3, 4, 5, 6}},
      MediaReleaseResult{},
      MediaBindResult{},
      AdoptSequenceResult{SeedHandle{1}},
      PublishSequenceResult{},
      UnpublishResult{},
  };
}

}  // namespace

std::vector<DriverMessage> DriverSamples() {
  std::vector<DriverMessage> samples = {
      Hello{{7, 8}, "daemon", Role::kObserver, {"one", "two"}},
      RingAttach{kTokenOutRing, Spec()},
      ControlAttach{1},
      TickSubmit{{.tick_id = 1,
                  .flags = kTickFlagPartialEmits,
                  .deadline_us = 2,
                  .lanes = {SampleLane(), SampleLane()}}},
      MatchRequest{Span(10), {1, 2}},
      SeedAcquire{Span(10), 1, 2, {3, 4}},
      SeedRelease{SeedHandle{1}},
      StateOpSubmit{Snapshot{SequenceId{1}, SpaceId{2}, 3, BufId{4}, 5}},
      StateOpSubmit{Demote{SequenceId{1}, SpaceId{2}, {3, 4}, 5, BufId{6}, 7}},
      StateOpSubmit{Restore{SequenceId{1}, SpaceId{2}, BufId{3}}},
      StateOpSubmit{Promote{SequenceId{1}, SpaceId{2}, {3, 4}, BufId{5}}},
      OpCancel{OpHandle{1}},
      TranscribeCancel{1},
      TranscribeAudio{1, std::string("pcm"), true},
      TranscribeAudio{1, BufferSpan{BufId{2}, 3, 4}, true},
      StrategyRegister{.strategy_id = "draft",
                       .impl_version = "1.2",
                       .impl_hash = HashOf(1),
                       .config_hash = HashOf(2),
                       .artifacts = {{3, HashOf(4), 5, "/models/draft.bin"}},
                       .taps = {{6, 7, 8, 9}},
                       .capabilities = {{10, {11, 12}}},
                       .target_archs = {"sm_90", "cpu"},
                       .kernel_caps_required = 13,
                       .est_state_bytes = 14,
                       .claimed_exactness = 15,
                       .rng_contract_version = 16},
      BufAlloc{BufId{1}, 2},
      BufAttach{BufId{1}, 2},
      BufRelease{BufId{1}},
      Ping{},
      DrainRequest{true, 1, true},
      Telemetry{{{"one", 1}, {"two", 2}}},
  };
  for (StateSyncCall& call : Calls()) samples.emplace_back(StateSyncRequest{std::move(call)});
  return samples;
}

std::vector<WorkerMessage> WorkerSamples() {
  std::vector<WorkerMessage> samples = {
      HelloAck{.chosen_version = 8,
               .engine_bundle_hash = HashOf(1),
               .capabilities_json = "{}",
               .state_space_descriptors = {Space()},
               .registered_strategies = {{StrategySlot{2}, "draft", "1.2"}},
               .limits = {3, 4, {Spec()}, 5, 6},
               .kv_bits = 7,
               .link_token = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6}},
      Error{Status::kProtocolError, "what", "where", true},
      RingAck{kTokenInRing, 2},
      ControlAck{1},
      TickResult{Status::kOk,
                 "fine",
                 {.tick_id = 1,
                  .lanes = {{LaneTag{2}, Span(10), Span(20), FinishReason::kLength, SequenceId{3},
                             4, 5, Status::kBusy, "lane"}},
                  .op_completions = {Done()},
                  .mem = Mem(),
                  .timings = {6, 7},
                  .dropped_emits = 8}},
      TickEmit{1, LaneTag{2}, {3, 4}, 5},
      MatchResult{Status::kUnknownHandle, "none", {{SpaceId{1}, 2}, {SpaceId{3}, 4}}},
      SeedGrant{Status::kBusy, "later", SeedHandle{1}, 2, 3},
      StateOpAccepted{Status::kDraining, "no more", OpHandle{1}},
      Done(),
      SegmentMessage(),
      TranscribeProgress{6},
      StrategyGrant{Status::kOk,
                    "granted",
                    StrategySlot{1},
                    {{2, 3, 4, 5, true, true, 6, {HashOf(7), HashOf(8)}}},
                    {Space()},
                    9},
      BufAlloced{Status::kOk, "here", BufId{1}, 2},
      Pong{1, 2, 3, Mem(), 4, EngineState::kStalled, 5, 6, 7, 8, 9, 10, 11},
      Drained{1, 2},
      Telemetry{{{"one", 1}}},
      StateSyncResult{Status::kUnsupported, "no such call", {}},
      StateSyncResult{Status::kCancelled, "cancelled", Transcript()},
  };
  for (StateSyncReply& reply : Replies()) {
    samples.emplace_back(StateSyncResult{Status::kOk, "", std::move(reply)});
  }
  return samples;
}

}  // namespace superfluid::linkw
