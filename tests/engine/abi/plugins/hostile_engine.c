#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/abi/plugins/hostile.h"

int hostile_is(const sfl_engine* engine, const char* mode) {
  return strcmp(engine->mode, mode) == 0;
}

void hostile_note(sfl_transcription* job, int64_t answer) {
  const size_t used = strlen(job->answers);
  snprintf(job->answers + used, sizeof job->answers - used, "%d,", (int)answer);
}

static sfl_status fail_in_create(const sfl_engine* engine, sfl_error* error) {
  if (hostile_is(engine, "create_code_77")) return 77;
  if (hostile_is(engine, "create_code_min")) return INT_MIN;
  if (hostile_is(engine, "create_message_overrun")) {
    memset(error->message, 'x', error->capacity + 8);
    return SFL_INVALID_ARGUMENT;
  }
  if (hostile_is(engine, "create_message_unterminated")) {
    memset(error->message, 'x', error->capacity);
    return SFL_INVALID_ARGUMENT;
  }
  if (hostile_is(engine, "create_message_not_utf8")) {
    strcpy(error->message, "bad \xFF\xC3 text");
    return SFL_INVALID_ARGUMENT;
  }
  if (hostile_is(engine, "create_message_swapped")) {
    error->message = (char*)(uintptr_t)16;
    error->capacity = SIZE_MAX;
    return SFL_INVALID_ARGUMENT;
  }
  return SFL_OK;
}

static void log_rubbish(const sfl_host* host) {
  const char line[] = "caf\xE9\x1B[31m\nred\n";
  char* const long_line = malloc(100000);
  host->log(host->user, SFL_LOG_INFO, NULL, 100);
  host->log(NULL, SFL_LOG_INFO, "nobody", 6);
  host->log((void*)(uintptr_t)0xDEADBEEF, SFL_LOG_INFO, "nobody", 6);
  host->log(host->user, INT_MAX, line, sizeof line - 1);
  if (long_line != NULL) {
    memset(long_line, 'y', 100000);
    host->log(host->user, INT_MIN, long_line, 100000);
  }
  free(long_line);
}

static sfl_status create(const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                         sfl_error* error) {
  sfl_engine* const made = calloc(1, sizeof *made);
  sfl_status status;
  if (made == NULL) return SFL_RESOURCE_EXHAUSTED;
  if (config->option_count > 0) {
    snprintf(made->mode, sizeof made->mode, "%s", config->options[0].value.data);
  }
  made->host = *host;
  status = fail_in_create(made, error);
  if (hostile_is(made, "create_log")) log_rubbish(host);
  if (status != SFL_OK || hostile_is(made, "create_null")) {
    free(made);
    return status;
  }
  *engine = made;
  return SFL_OK;
}

static void destroy(sfl_engine* engine) { free(engine); }

/* Uses what a freed transcription left behind. */
static sfl_status memory(sfl_engine* engine, sfl_memory* memory, sfl_error* error) {
  const sfl_segment segment = hostile_segment("late");
  const sfl_step* const step = &engine->late_step;
  float samples[16];
  sfl_audio_block block = {0};
  if (step->emit == NULL) return SFL_OK;
  memory->allocated_bytes = (uint64_t)step->emit(step->user, &segment, error);
  memory->host_retained_bytes =
      (uint64_t)engine->late_audio.read(engine->late_audio.user, samples, 16, &block, error);
  memory->tentative_bytes = step->cancelled(step->user);
  return SFL_OK;
}

static sfl_status reset(sfl_engine* engine, sfl_error* error) {
  (void)engine;
  sfl_set_error(error, "would not");
  return SFL_INTERNAL;
}

static sfl_status start(sfl_engine* engine, const sfl_transcription_params* params,
                        const sfl_audio* audio, sfl_transcription** job, sfl_error* error) {
  (void)params;
  (void)error;
  if (hostile_is(engine, "start_null")) return SFL_OK;
  *job = calloc(1, sizeof **job);
  if (*job == NULL) return SFL_RESOURCE_EXHAUSTED;
  (*job)->audio = *audio;
  engine->late_audio = *audio;
  return SFL_OK;
}

/* Uses the callbacks of a step that is over. */
static sfl_status progress(sfl_engine* engine, sfl_transcription* job, sfl_progress* progress,
                           sfl_error* error) {
  const sfl_segment segment = hostile_segment("late");
  const sfl_step* const step = &engine->late_step;
  float samples[16];
  sfl_audio_block block = {0};
  if (hostile_is(engine, "progress_fails")) return SFL_INTERNAL;
  if (hostile_is(engine, "progress_rubbish")) {
    memset(progress->language, 'z', sizeof progress->language);
    progress->audio_ms = INT64_MIN;
    progress->audio_total_ms = -1;
    return SFL_OK;
  }
  if (hostile_is(engine, "late_callbacks") && step->emit != NULL) {
    hostile_note(job, step->emit(step->user, &segment, error));
    hostile_note(job, job->audio.read(job->audio.user, samples, 16, &block, error));
    hostile_note(job, step->cancelled(step->user) != 0);
  }
  memcpy(progress->language, job->answers, sizeof progress->language);
  return SFL_OK;
}

static void free_job(sfl_engine* engine, sfl_transcription* job) {
  (void)engine;
  free(job);
}

static const sfl_engine_vtable table = {
    .struct_size = sizeof(sfl_engine_vtable),
    .abi_version = SFL_ABI_VERSION,
    .create = create,
    .destroy = destroy,
    .describe = hostile_describe,
    .memory = memory,
    .reset = reset,
    .transcription_start = start,
    .transcription_step = hostile_step,
    .transcription_progress = progress,
    .transcription_free = free_job,
};

const sfl_engine_vtable* superfluid_engine_entry(uint32_t host_abi_version) {
  (void)host_abi_version;
  return &table;
}
