/* A whole speech engine in plain C: "hears" each second of audio as the words "second N". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/abi/superfluid_engine.h"

enum { FRAMES_PER_SECOND = 16000, BLOCK = 1600 };

struct sfl_engine {
  int jobs;
};

struct sfl_transcription {
  sfl_audio audio;
  int64_t frames;
  int64_t seconds_told;
};

static sfl_status create(const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                         sfl_error* error) {
  if (config->option_count > 0) {
    sfl_set_error(error, "the minimal engine has no options");
    return SFL_INVALID_ARGUMENT;
  }
  *engine = calloc(1, sizeof **engine);
  if (*engine == NULL) return SFL_RESOURCE_EXHAUSTED;
  host->log(host->user, SFL_LOG_INFO, "minimal engine made", strlen("minimal engine made"));
  return SFL_OK;
}

static void destroy(sfl_engine* engine) { free(engine); }

static sfl_status describe(sfl_engine* engine, sfl_engine_info* info, sfl_output* capabilities,
                           sfl_error* error) {
  static const char json[] = "{\"engine\": \"minimal\"}";
  (void)engine;
  (void)error;
  info->max_transcriptions = 4;
  info->micro_step_us = 1000;
  strcpy(info->name, "minimal");
  strcpy(info->version, "1.0");
  capabilities->size = sizeof json - 1;
  if (capabilities->size <= capabilities->capacity) {
    memcpy(capabilities->data, json, capabilities->size);
  }
  return SFL_OK;
}

static sfl_status start(sfl_engine* engine, const sfl_transcription_params* params,
                        const sfl_audio* audio, sfl_transcription** job, sfl_error* error) {
  if (params->flags & SFL_TRANSLATE) {
    sfl_set_error(error, "the minimal engine does not translate");
    return SFL_UNIMPLEMENTED;
  }
  if (engine->jobs == 4) {
    sfl_set_error(error, "four transcriptions are running");
    return SFL_RESOURCE_EXHAUSTED;
  }
  *job = calloc(1, sizeof **job);
  if (*job == NULL) return SFL_RESOURCE_EXHAUSTED;
  (*job)->audio = *audio;
  ++engine->jobs;
  return SFL_OK;
}

static sfl_status tell(sfl_transcription* job, const sfl_step* step, int64_t end_ms,
                       sfl_error* error) {
  char number[32];
  sfl_word words[2] = {{0}};
  sfl_segment segment = {0};
  char text[64];
  snprintf(number, sizeof number, "%d", (int)job->seconds_told);
  snprintf(text, sizeof text, "second %s", number);
  words[0].text = (sfl_string){"second", 6};
  words[1].text = (sfl_string){number, strlen(number)};
  segment.struct_size = sizeof segment;
  segment.start_ms = job->seconds_told * 1000;
  segment.end_ms = end_ms;
  segment.text = (sfl_string){text, strlen(text)};
  segment.words = words;
  segment.word_count = 2;
  segment.word_size = sizeof words[0];
  words[0].start_ms = segment.start_ms;
  words[0].end_ms = words[1].start_ms = (segment.start_ms + end_ms) / 2;
  words[1].end_ms = end_ms;
  words[0].probability = words[1].probability = 0.5F;
  ++job->seconds_told;
  return step->emit(step->user, &segment, error);
}

static sfl_status step_job(sfl_engine* engine, sfl_transcription* job, const sfl_step* step,
                           uint32_t* outcome, sfl_error* error) {
  float samples[BLOCK];
  sfl_audio_block block = {0};
  sfl_status status;
  (void)engine;
  if (step->cancelled(step->user)) return SFL_CANCELLED;
  status = job->audio.read(job->audio.user, samples, BLOCK, &block, error);
  if (status != SFL_OK) return status;
  job->frames += (int64_t)block.frames;
  while (job->frames >= (job->seconds_told + 1) * FRAMES_PER_SECOND) {
    status = tell(job, step, (job->seconds_told + 1) * 1000, error);
    if (status != SFL_OK) return status;
  }
  *outcome = block.state == SFL_AUDIO_STARVED ? SFL_STEP_WAITING_FOR_AUDIO : SFL_STEP_MORE;
  if (block.state != SFL_AUDIO_END) return SFL_OK;
  *outcome = SFL_STEP_DONE;
  if (job->frames == job->seconds_told * FRAMES_PER_SECOND) return SFL_OK;
  return tell(job, step, job->frames * 1000 / FRAMES_PER_SECOND, error);
}

static sfl_status progress(sfl_engine* engine, sfl_transcription* job, sfl_progress* progress,
                           sfl_error* error) {
  (void)engine;
  (void)error;
  strcpy(progress->language, "en");
  progress->audio_ms = job->frames * 1000 / FRAMES_PER_SECOND;
  return SFL_OK;
}

static void free_job(sfl_engine* engine, sfl_transcription* job) {
  --engine->jobs;
  free(job);
}

static const sfl_engine_vtable table = {
    .struct_size = sizeof(sfl_engine_vtable),
    .abi_version = SFL_ABI_VERSION,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .transcription_start = start,
    .transcription_step = step_job,
    .transcription_progress = progress,
    .transcription_free = free_job,
};

const sfl_engine_vtable* superfluid_engine_entry(uint32_t host_abi_version) {
  return host_abi_version == SFL_ABI_VERSION ? &table : NULL;
}
