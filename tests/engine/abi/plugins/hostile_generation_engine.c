#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/abi/plugins/hostile_generation.h"

int bad(const sfl_engine* engine, const char* mode) { return strcmp(engine->mode, mode) == 0; }

void note(sfl_engine* engine, int64_t answer) {
  const size_t used = strlen(engine->answers);
  snprintf(engine->answers + used, sizeof engine->answers - used, "%d,", (int)answer);
}

void tell(sfl_engine* engine) {
  engine->host.log(engine->host.user, SFL_LOG_INFO, engine->answers, strlen(engine->answers));
  engine->answers[0] = '\0';
}

uint64_t new_handle(sfl_engine* engine, const char* mode) {
  const size_t length = strlen(mode);
  if (strncmp(engine->mode, mode, length) == 0) {
    if (strcmp(engine->mode + length, "_zero") == 0) return 0;
    if (strcmp(engine->mode + length, "_twice") == 0) return 77;
  }
  return ++engine->last_handle;
}

void overrun(void* memory, size_t bytes) { memset((char*)memory + bytes, 'o', GUARD); }

static sfl_status create(const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                         sfl_error* error) {
  (void)error;
  *engine = calloc(1, sizeof **engine);
  if (*engine == NULL) return SFL_RESOURCE_EXHAUSTED;
  if (config->option_count > 0) {
    snprintf((*engine)->mode, sizeof(*engine)->mode, "%s", config->options[0].value.data);
  }
  (*engine)->host = *host;
  return SFL_OK;
}

static void destroy(sfl_engine* engine) { free(engine); }

static sfl_status describe(sfl_engine* engine, sfl_engine_info* info, sfl_output* capabilities,
                           sfl_error* error) {
  (void)error;
  info->generation = bad(engine, "lanes_without_generation") ? 0 : 1;
  info->vocab_size = bad(engine, "no_vocabulary") ? 0 : VOCAB;
  info->max_lanes = 8;
  strcpy(info->name, "hostile");
  memcpy(capabilities->data, "{}", 2);
  capabilities->size = 2;
  return SFL_OK;
}

/* Uses the callbacks of a tick that is over. */
static void use_late_tick(sfl_engine* engine) {
  const sfl_tick* const tick = &engine->late_tick;
  const uint32_t token = 1;
  if (!bad(engine, "late_callbacks") || tick->emit == NULL) return;
  note(engine, tick->emit(tick->user, 0, &token, 1, NULL));
  note(engine, tick->lane_stopped(tick->user, 0));
  note(engine, tick->cancelled(tick->user) != 0);
  if (engine->late_step.cancelled != NULL) {
    note(engine, engine->late_step.cancelled(engine->late_step.user) != 0);
  }
  tell(engine);
}

static sfl_status create_sequence(sfl_engine* engine, uint64_t* sequence, sfl_error* error) {
  (void)error;
  use_late_tick(engine);
  *sequence = new_handle(engine, "create");
  if (bad(engine, "create_overrun")) overrun(sequence, sizeof *sequence);
  if (bad(engine, "create_unknown_code")) return 77;
  if (bad(engine, "create_negative_code")) return -3;
  if (bad(engine, "create_message_overrun")) {
    memset(error->message, 'x', error->capacity + GUARD);
    return SFL_INVALID_ARGUMENT;
  }
  return SFL_OK;
}

static sfl_status free_sequence(sfl_engine* engine, uint64_t sequence, sfl_error* error) {
  (void)sequence;
  sfl_set_error(error, "keeps it");
  return bad(engine, "free_fails") ? SFL_INTERNAL : SFL_OK;
}

static sfl_status fork(sfl_engine* engine, uint64_t parent, uint32_t flags, uint64_t* sequence,
                       sfl_error* error) {
  (void)flags, (void)error;
  *sequence = bad(engine, "fork_is_the_parent") ? parent : new_handle(engine, "fork");
  return SFL_OK;
}

static sfl_status lane_sequence(sfl_engine* engine, uint64_t tag, uint64_t* sequence,
                                sfl_error* error) {
  (void)tag, (void)error;
  if (!bad(engine, "lane_sequence_unset")) *sequence = 999999;
  return SFL_OK;
}

static sfl_status release_seed(sfl_engine* engine, uint64_t seed, sfl_error* error) {
  (void)engine, (void)seed, (void)error;
  return SFL_OK;
}

static sfl_status adopt_sequence(sfl_engine* engine, uint64_t sequence, const uint32_t* tokens,
                                 size_t token_count, const sfl_call* call, uint64_t* seed,
                                 sfl_error* error) {
  (void)sequence, (void)tokens, (void)token_count, (void)call, (void)error;
  *seed = new_handle(engine, "adopt");
  return SFL_OK;
}

static sfl_status create_grammar(sfl_engine* engine, sfl_string text, const sfl_call* call,
                                 uint64_t* grammar, sfl_error* error) {
  (void)text, (void)call, (void)error;
  *grammar = new_handle(engine, "grammar");
  return SFL_OK;
}

static sfl_status free_handle(sfl_engine* engine, uint64_t handle, sfl_error* error) {
  (void)engine, (void)handle, (void)error;
  return SFL_OK;
}

static sfl_status create_logit_bias(sfl_engine* engine, const uint32_t* tokens, const float* values,
                                    size_t count, uint64_t* logit_bias, sfl_error* error) {
  (void)tokens, (void)values, (void)count, (void)error;
  *logit_bias = new_handle(engine, "bias");
  return SFL_OK;
}

static sfl_status load_adapter(sfl_engine* engine, sfl_string path, const sfl_call* call,
                               uint64_t* adapter, sfl_error* error) {
  (void)path, (void)call, (void)error;
  *adapter = new_handle(engine, "adapter");
  return SFL_OK;
}

static sfl_status current_adapter(sfl_engine* engine, uint64_t* adapter, sfl_error* error) {
  (void)error;
  if (!bad(engine, "current_adapter_unset")) *adapter = 0;
  if (bad(engine, "current_adapter_overrun")) overrun(adapter, sizeof *adapter);
  return SFL_OK;
}

static sfl_status end_session(sfl_engine* engine, sfl_error* error) {
  (void)engine;
  sfl_set_error(error, "would not");
  return bad(engine, "end_session_fails") ? SFL_INTERNAL : SFL_OK;
}

static const sfl_engine_vtable table = {
    .struct_size = sizeof(sfl_engine_vtable),
    .abi_version = SFL_ABI_VERSION,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .state_spaces = state_spaces,
    .strategies = strategies,
    .run_tick = run_tick,
    .create_sequence = create_sequence,
    .free_sequence = free_sequence,
    .fork = fork,
    .lane_sequence = lane_sequence,
    .snapshot_boundary = snapshot_boundary,
    .export_size = export_size,
    .provenance = provenance,
    .export_start = export_start,
    .import_start = import_start,
    .state_step = state_step,
    .state_free = state_free,
    .match = match,
    .acquire_seed = acquire_seed,
    .release_seed = release_seed,
    .adopt_sequence = adopt_sequence,
    .evict_cache = evict_cache,
    .create_grammar = create_grammar,
    .create_structural_grammar = create_grammar,
    .free_grammar = free_handle,
    .create_logit_bias = create_logit_bias,
    .free_logit_bias = free_handle,
    .embed = embed,
    .forward_stage = forward_stage,
    .load_adapter = load_adapter,
    .current_adapter = current_adapter,
    .probe_media = probe_media,
    .encode_media = encode_media,
    .release_media = free_handle,
    .register_strategy = register_strategy,
    .end_session = end_session,
};

const sfl_engine_vtable* superfluid_engine_entry(uint32_t host_abi_version) {
  (void)host_abi_version;
  return &table;
}
