// A C++ plug-in that lets exceptions out of its generation calls, which none may do. Its option
// `at` says where: "calls" (the functions that make something work once), "describe", or "job".
#include <cstring>
#include <stdexcept>
#include <string>

#include "engine/abi/superfluid_engine.h"

struct sfl_engine {
  std::string at;
  uint64_t last_handle = 0;
  bool sequence_made = false;
  bool grammar_made = false;
  bool bias_made = false;
  bool media_made = false;
};

struct sfl_state_job {};

namespace {

[[noreturn]] void Throw() { throw std::runtime_error("thrown on purpose"); }

// Throws, whatever the function's arguments are.
template <typename... Args>
sfl_status Throwing(sfl_engine* /*engine*/, Args... /*args*/) {
  Throw();
}

sfl_status MakeOnce(sfl_engine& engine, bool& made, uint64_t* handle) {
  if (made && engine.at == "calls") Throw();
  made = true;
  *handle = ++engine.last_handle;
  return SFL_OK;
}

sfl_status Create(const sfl_config* config, const sfl_host* /*host*/, sfl_engine** engine,
                  sfl_error* /*error*/) {
  *engine = new sfl_engine;
  if (config->option_count > 0) (*engine)->at = config->options[0].value.data;
  return SFL_OK;
}

void Destroy(sfl_engine* engine) { delete engine; }

sfl_status Describe(sfl_engine* /*engine*/, sfl_engine_info* info, sfl_output* output,
                    sfl_error* /*error*/) {
  info->generation = 1;
  info->vocab_size = 1000;
  info->max_lanes = 4;
  std::strcpy(info->name, "throwing");
  std::memcpy(output->data, "{}", 2);
  output->size = 2;
  return SFL_OK;
}

sfl_status StateSpaces(sfl_engine* engine, sfl_list* /*spaces*/, sfl_error* /*error*/) {
  if (engine->at == "describe") Throw();
  return SFL_OK;
}

sfl_status CreateSequence(sfl_engine* engine, uint64_t* sequence, sfl_error* /*error*/) {
  return MakeOnce(*engine, engine->sequence_made, sequence);
}

sfl_status CreateGrammar(sfl_engine* engine, sfl_string /*text*/, const sfl_call* /*call*/,
                         uint64_t* grammar, sfl_error* /*error*/) {
  return MakeOnce(*engine, engine->grammar_made, grammar);
}

sfl_status CreateLogitBias(sfl_engine* engine, const uint32_t* /*tokens*/, const float* /*values*/,
                           size_t /*count*/, uint64_t* bias, sfl_error* /*error*/) {
  return MakeOnce(*engine, engine->bias_made, bias);
}

sfl_status EncodeMedia(sfl_engine* engine, sfl_string /*path*/, const sfl_call* /*call*/,
                       uint64_t* media, sfl_media_info* info, sfl_error* /*error*/) {
  info->token_count = 1;
  return MakeOnce(*engine, engine->media_made, media);
}

sfl_status ExportStart(sfl_engine* engine, const sfl_state_export* /*what*/, void* /*out*/,
                       size_t /*size*/, sfl_state_job** job, sfl_error* /*error*/) {
  if (engine->at == "calls") Throw();
  *job = new sfl_state_job;
  return SFL_OK;
}

void StateFree(sfl_engine* /*engine*/, sfl_state_job* job) {
  delete job;
  Throw();
}

sfl_engine_vtable Table() {
  sfl_engine_vtable table = {};
  table.struct_size = sizeof table;
  table.abi_version = SFL_ABI_VERSION;
  table.create = &Create;
  table.destroy = &Destroy;
  table.describe = &Describe;
  table.state_spaces = &StateSpaces;
  table.create_sequence = &CreateSequence;
  table.create_grammar = &CreateGrammar;
  table.create_logit_bias = &CreateLogitBias;
  table.encode_media = &EncodeMedia;
  table.export_start = &ExportStart;
  table.state_free = &StateFree;
  table.run_tick = &Throwing;
  table.free_sequence = &Throwing;
  table.fork = &Throwing;
  table.trim = &Throwing;
  table.lane_sequence = &Throwing;
  table.snapshot_boundary = &Throwing;
  table.export_size = &Throwing;
  table.provenance = &Throwing;
  table.import_start = &Throwing;
  table.state_step = &Throwing;
  table.match = &Throwing;
  table.acquire_seed = &Throwing;
  table.release_seed = &Throwing;
  table.publish_sequence = &Throwing;
  table.adopt_sequence = &Throwing;
  table.unpublish = &Throwing;
  table.evict_cache = &Throwing;
  table.evict_entries = &Throwing;
  table.create_structural_grammar = &Throwing;
  table.free_grammar = &Throwing;
  table.free_logit_bias = &Throwing;
  table.embed = &Throwing;
  table.forward_stage = &Throwing;
  table.load_adapter = &Throwing;
  table.unload_adapter = &Throwing;
  table.current_adapter = &Throwing;
  table.probe_media = &Throwing;
  table.release_media = &Throwing;
  table.bind_media = &Throwing;
  table.register_strategy = &Throwing;
  table.end_session = &Throwing;
  return table;
}

}  // namespace

const sfl_engine_vtable* superfluid_engine_entry(uint32_t) {
  static const sfl_engine_vtable kTable = Table();
  return &kTable;
}
