#include <string>
#include <variant>

#include "engine/sdk/host_views.h"
#include "engine/sdk/shim_types.h"

// Of the shim: grammars and biases, the model, adapters and media.
namespace superfluid::sdk {
namespace {

sfl_status CreateGrammar(sfl_engine* engine, sfl_string json_schema, const sfl_call* call,
                         uint64_t* grammar, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const HostCall host(*call);
    return Put(generation.CreateGrammar(View(json_schema), host.control()), grammar);
  });
}

sfl_status CreateStructuralGrammar(sfl_engine* engine, sfl_string tag_json, const sfl_call* call,
                                   uint64_t* grammar, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const HostCall host(*call);
    return Put(generation.CreateStructuralGrammar(View(tag_json), host.control()), grammar);
  });
}

sfl_status FreeGrammar(sfl_engine* engine, uint64_t grammar, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return generation.FreeGrammar(GrammarHandle{grammar});
  });
}

sfl_status CreateLogitBias(sfl_engine* engine, const uint32_t* tokens, const float* values,
                           size_t count, uint64_t* logit_bias, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return Put(generation.CreateLogitBias(absl::MakeConstSpan(tokens, count),
                                          absl::MakeConstSpan(values, count)),
               logit_bias);
  });
}

sfl_status FreeLogitBias(sfl_engine* engine, uint64_t logit_bias, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return generation.FreeLogitBias(LogitBiasHandle{logit_bias});
  });
}

sfl_status Embed(sfl_engine* engine, const uint32_t* tokens, size_t token_count,
                 const sfl_call* call, sfl_list* values, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) -> absl::Status {
    const HostCall host(*call);
    const auto embedding =
        generation.Embed(absl::MakeConstSpan(tokens, token_count), host.control());
    if (!embedding.ok()) return embedding.status();
    FillList<float>(*embedding, *values, [](float value, float& raw) { raw = value; });
    return absl::OkStatus();
  });
}

sfl_status ForwardStage(sfl_engine* engine, const sfl_stage* raw, const sfl_call* call,
                        sfl_stage_result* result, sfl_output* hidden, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) -> absl::Status {
    const HostCall host(*call);
    const sfl_stage stage = CopyIn(raw);
    StageWork work;
    work.tokens = absl::MakeConstSpan(stage.tokens, stage.token_count);
    work.start_layer = stage.start_layer;
    work.end_layer = stage.end_layer;
    work.has_hidden = (stage.flags & SFL_STAGE_HAS_HIDDEN) != 0;
    work.hidden = absl::string_view(static_cast<const char*>(stage.hidden), stage.hidden_size);
    const absl::StatusOr<StageOutput> output = generation.ForwardStage(work, host.control());
    if (!output.ok()) return output.status();
    const auto* const state = std::get_if<std::string>(&*output);
    if (state != nullptr) FillOutput(*state, *hidden);
    FillIn(result, [&](sfl_stage_result& answer) {
      answer.kind = state != nullptr ? SFL_STAGE_HIDDEN : SFL_STAGE_TOKEN;
      if (state == nullptr) answer.token = std::get<Token>(*output);
    });
    return absl::OkStatus();
  });
}

sfl_status LoadAdapter(sfl_engine* engine, sfl_string path, const sfl_call* call, uint64_t* adapter,
                       sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const HostCall host(*call);
    return Put(generation.LoadAdapter(Copied(path), host.control()), adapter);
  });
}

sfl_status UnloadAdapter(sfl_engine* engine, sfl_error* error) noexcept {
  return WithGeneration(engine, error,
                        [&](Generation& generation) { return generation.UnloadAdapter(); });
}

sfl_status CurrentAdapter(sfl_engine* engine, uint64_t* adapter, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return Put(generation.CurrentAdapter(), adapter);
  });
}

void InfoToHost(const MediaInfo& info, sfl_media_info& raw) {
  raw.token_count = info.n_tokens;
  raw.image_token = info.image_token;
  raw.boi_token = info.boi_token;
  raw.eoi_token = info.eoi_token;
  raw.preprocess_fp = info.preprocess_fp;
}

sfl_status ProbeMedia(sfl_engine* engine, sfl_string path, const sfl_call* call,
                      sfl_media_info* info, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const HostCall host(*call);
    const absl::StatusOr<MediaInfo> probed = generation.ProbeMedia(Copied(path), host.control());
    if (probed.ok()) FillIn(info, [&](sfl_media_info& raw) { InfoToHost(*probed, raw); });
    return probed.status();
  });
}

sfl_status EncodeMedia(sfl_engine* engine, sfl_string path, const sfl_call* call, uint64_t* media,
                       sfl_media_info* info, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) -> absl::Status {
    const HostCall host(*call);
    const absl::StatusOr<EncodedMedia> encoded =
        generation.EncodeMedia(Copied(path), host.control());
    if (!encoded.ok()) return encoded.status();
    *media = static_cast<uint64_t>(encoded->handle);
    FillIn(info, [&](sfl_media_info& raw) { InfoToHost(encoded->info, raw); });
    return absl::OkStatus();
  });
}

sfl_status ReleaseMedia(sfl_engine* engine, uint64_t media, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return generation.ReleaseMedia(MediaHandle{media});
  });
}

sfl_status BindMedia(sfl_engine* engine, uint64_t tag, uint64_t media, uint64_t token_offset,
                     sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return generation.BindMedia(LaneTag{tag}, MediaHandle{media}, token_offset);
  });
}

}  // namespace

void AddModel(sfl_engine_vtable& table) noexcept {
  table.create_grammar = &CreateGrammar;
  table.create_structural_grammar = &CreateStructuralGrammar;
  table.free_grammar = &FreeGrammar;
  table.create_logit_bias = &CreateLogitBias;
  table.free_logit_bias = &FreeLogitBias;
  table.embed = &Embed;
  table.forward_stage = &ForwardStage;
  table.load_adapter = &LoadAdapter;
  table.unload_adapter = &UnloadAdapter;
  table.current_adapter = &CurrentAdapter;
  table.probe_media = &ProbeMedia;
  table.encode_media = &EncodeMedia;
  table.release_media = &ReleaseMedia;
  table.bind_media = &BindMedia;
}

}  // namespace superfluid::sdk
