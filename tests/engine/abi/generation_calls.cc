#include "tests/engine/abi/generation_calls.h"

#include "engine/cancel_token.h"
#include "tests/engine/abi/generation_fixture.h"

namespace superfluid::testing {

std::vector<NamedCall> AllGenerationCalls(SequenceHandle sequence, GrammarHandle grammar,
                                          LogitBiasHandle bias, MediaHandle media) {
  static const std::vector<Token> kTokens = {1};
  static const std::vector<float> kValues = {1};
  static std::vector<std::byte> bytes(8);
  return {
      {"create_sequence", [](Generation& g) { return g.CreateSequence().status(); }},
      {"fork", [sequence](Generation& g) { return g.Fork(sequence, 0).status(); }},
      {"trim", [sequence](Generation& g) { return g.Trim(sequence, SpaceId{}, 0); }},
      {"lane_sequence", [](Generation& g) { return g.LaneSequence(LaneTag{1}).status(); }},
      {"snapshot_boundary",
       [sequence](Generation& g) { return g.SnapshotBoundary(sequence, SpaceId{}, 1).status(); }},
      {"export_size",
       [sequence](Generation& g) { return g.SizeOfExport(sequence, SpaceId{}, {}, 0).status(); }},
      {"provenance",
       [sequence](Generation& g) { return g.Provenance(sequence, SpaceId{}, {}).status(); }},
      {"export_start",
       [sequence](Generation& g) {
         return g.StartExport({sequence, SpaceId{}, {}, 0, false}, absl::MakeSpan(bytes)).status();
       }},
      {"import_start",
       [sequence](Generation& g) {
         return g.StartImport({sequence, SpaceId{}, {}, 0, {}, false}, bytes).status();
       }},
      {"match", [](Generation& g) { return g.Match(kTokens, {}).status(); }},
      {"acquire_seed", [](Generation& g) { return g.AcquireSeed(kTokens, 1, 0, {}).status(); }},
      {"release_seed", [](Generation& g) { return g.ReleaseSeed(SeedHandle{1}); }},
      {"publish_sequence",
       [sequence](Generation& g) { return g.PublishSequence(sequence, kTokens, {}); }},
      {"adopt_sequence",
       [sequence](Generation& g) { return g.AdoptSequence(sequence, kTokens, {}).status(); }},
      {"unpublish", [](Generation& g) { return g.Unpublish(kTokens); }},
      {"evict_cache", [](Generation& g) { return g.EvictCache(1, {}).status(); }},
      {"evict_entries", [](Generation& g) { return g.EvictEntries({}); }},
      {"create_grammar", [](Generation& g) { return g.CreateGrammar("", {}).status(); }},
      {"create_structural_grammar",
       [](Generation& g) { return g.CreateStructuralGrammar("", {}).status(); }},
      {"free_grammar", [grammar](Generation& g) { return g.FreeGrammar(grammar); }},
      {"create_logit_bias",
       [](Generation& g) { return g.CreateLogitBias(kTokens, kValues).status(); }},
      {"free_logit_bias", [bias](Generation& g) { return g.FreeLogitBias(bias); }},
      {"embed", [](Generation& g) { return g.Embed(kTokens, {}).status(); }},
      {"forward_stage", [](Generation& g) { return g.ForwardStage({}, {}).status(); }},
      {"load_adapter", [](Generation& g) { return g.LoadAdapter("", {}).status(); }},
      {"unload_adapter", [](Generation& g) { return g.UnloadAdapter(); }},
      {"current_adapter", [](Generation& g) { return g.CurrentAdapter().status(); }},
      {"probe_media", [](Generation& g) { return g.ProbeMedia("", {}).status(); }},
      {"encode_media", [](Generation& g) { return g.EncodeMedia("", {}).status(); }},
      {"bind_media", [media](Generation& g) { return g.BindMedia(LaneTag{}, media, 0); }},
      {"release_media", [media](Generation& g) { return g.ReleaseMedia(media); }},
      {"register_strategy", [](Generation& g) { return g.RegisterStrategy({}).status(); }},
      {"run_tick",
       [](Generation& g) {
         RecordingHost host;
         const CancelToken token;
         const std::vector<LaneWork> lanes(1);
         return g.RunTick({1, false, lanes}, token, host).status();
       }},
      {"free_sequence", [sequence](Generation& g) { return g.FreeSequence(sequence); }},
  };
}

}  // namespace superfluid::testing
