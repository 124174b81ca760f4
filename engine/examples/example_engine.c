/* Of the example engine: creating, describing, and the table of functions. */
#include "engine/examples/example_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_CONTEXT = 4096 };

static void log_line(const sfl_engine* engine, int32_t level, const char* line) {
  engine->host.log(engine->host.user, level, line, strlen(line));
}

/* Options come from the command line: --engine-option context=100. An engine refuses what it does
 * not know, so that a typing error is not mistaken for the default. */
static sfl_status take_option(sfl_engine* engine, const sfl_option* option, sfl_error* error) {
  char* end = NULL;
  long value = 0;
  if (strcmp(option->key.data, "context") != 0) {
    return example_fail(error, SFL_INVALID_ARGUMENT, "the one option is `context`");
  }
  /* Strings of the host end with a NUL. */
  value = strtol(option->value.data, &end, 10);
  if (*end != '\0' || value < 1 || value > EXAMPLE_MAX_CONTEXT) {
    return example_fail(error, SFL_INVALID_ARGUMENT, "`context` is a number from 1 to 1048576");
  }
  engine->context = (size_t)value;
  return SFL_OK;
}

static void destroy(sfl_engine* engine) {
  example_drop_all(engine);
  free(engine->text);
  free(engine);
}

static sfl_status configure(sfl_engine* engine, const sfl_config* config, sfl_error* error) {
  for (uint32_t i = 0; i < config->option_count; ++i) {
    const sfl_status status = take_option(engine, &config->options[i], error);
    if (status != SFL_OK) return status;
  }
  return example_load_model(engine, config->model_path, error);
}

/* The one call that may take its time. On failure nothing is left behind. */
static sfl_status create(const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                         sfl_error* error) {
  char line[64];
  sfl_status status = SFL_OK;
  sfl_engine* const made = calloc(1, sizeof *made);
  if (made == NULL) return example_fail(error, SFL_RESOURCE_EXHAUSTED, "out of memory");
  made->host = *host; /* valid until `destroy` returns, so a copy is */
  made->context = DEFAULT_CONTEXT;
  status = configure(made, config, error);
  if (status != SFL_OK) {
    destroy(made);
    return status;
  }
  snprintf(line, sizeof line, "a model of %zu bytes", made->text_size);
  log_line(made, SFL_LOG_INFO, line);
  *engine = made;
  return SFL_OK;
}

/* The host asks again with more room if `size` turns out to be more than `capacity`. */
static void answer(sfl_output* output, const char* text, size_t size) {
  output->size = size;
  if (size <= output->capacity) memcpy(output->data, text, size);
}

static sfl_status describe(sfl_engine* engine, sfl_engine_info* info, sfl_output* capabilities,
                           sfl_error* error) {
  char json[512];
  /* "calls" names what is served; what is not in it, the host's users need not try. */
  const int size =
      snprintf(json, sizeof json,
               "{\"name\": \"example\", \"vocab_size\": %d, \"context_tokens\": %zu, "
               "\"state_spaces\": [\"text\"], \"calls\": [\"transcribe\", \"tick\", \"state_ops\", "
               "\"create_sequence\", \"free_sequence\", \"fork\", \"trim\", \"snapshot_boundary\", "
               "\"export_size\", \"create_logit_bias\", \"free_logit_bias\"]}",
               EXAMPLE_VOCAB, engine->context);
  (void)error;
  info->max_transcriptions = EXAMPLE_MAX_TRANSCRIPTIONS;
  info->max_lanes = EXAMPLE_MAX_LANES;
  info->micro_step_us = 20000;
  info->generation = 1;
  info->vocab_size = EXAMPLE_VOCAB;
  snprintf(info->name, sizeof info->name, "example");
  snprintf(info->version, sizeof info->version, "1.0");
  answer(capabilities, json, (size_t)size);
  return SFL_OK;
}

static sfl_status memory(sfl_engine* engine, sfl_memory* counters, sfl_error* error) {
  (void)error;
  counters->allocated_bytes = sizeof *engine + engine->text_size;
  for (size_t i = 0; i < EXAMPLE_MAX_SEQUENCES; ++i) {
    const example_sequence* const sequence = engine->sequences[i];
    if (sequence == NULL) continue;
    counters->allocated_bytes += sizeof *sequence + sequence->capacity * sizeof(example_entry);
  }
  for (size_t i = 0; i < EXAMPLE_MAX_BIASES; ++i) {
    if (engine->biases[i] != NULL) counters->allocated_bytes += sizeof(example_bias);
  }
  return SFL_OK;
}

/* Whoever made the sequences and biases is gone, and will not free them. */
static sfl_status end_session(sfl_engine* engine, sfl_error* error) {
  (void)error;
  example_drop_all(engine);
  return SFL_OK;
}

/* What is not here, the engine does not support. */
static const sfl_engine_vtable table = {
    .struct_size = sizeof(sfl_engine_vtable),
    .abi_version = SFL_ABI_VERSION,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .memory = memory,
    .transcription_start = example_transcription_start,
    .transcription_step = example_transcription_step,
    .transcription_progress = example_transcription_progress,
    .transcription_free = example_transcription_free,
    .state_spaces = example_state_spaces,
    .run_tick = example_run_tick,
    .create_sequence = example_create_sequence,
    .free_sequence = example_free_sequence,
    .fork = example_fork,
    .trim = example_trim,
    .snapshot_boundary = example_snapshot_boundary,
    .export_size = example_export_size,
    .provenance = example_provenance,
    .export_start = example_export_start,
    .import_start = example_import_start,
    .state_step = example_state_step,
    .state_free = example_state_free,
    .create_logit_bias = example_create_logit_bias,
    .free_logit_bias = example_free_logit_bias,
    .end_session = end_session,
};

const sfl_engine_vtable* superfluid_engine_entry(uint32_t host_abi_version) {
  return host_abi_version == SFL_ABI_VERSION ? &table : NULL;
}
