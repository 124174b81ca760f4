/* Of the example engine: a "transcription" that hears how loud it is. Each stretch of sound becomes
 * a segment such as "sound at -12 dB". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/examples/example_engine.h"

enum {
  RATE_HZ = 16000,
  FRAME = RATE_HZ / 50, /* samples; loudness is taken over 20 ms */
  FRAMES_PER_STEP = 50, /* a second of audio: a fraction of a millisecond of work */
  QUIET_FRAMES_THAT_END = 10
};
static const double LOUD_DB = -45;

struct sfl_transcription {
  sfl_audio audio; /* the host's struct may be copied */
  float frame[FRAME];
  size_t filled; /* samples of `frame` */
  int64_t samples;
  /* The stretch of sound that is open, if loud_frames > 0. */
  int64_t start_ms;
  int64_t end_ms;
  double energy;
  int loud_frames;
  int quiet_frames; /* since the last loud one */
};

sfl_status example_transcription_start(sfl_engine* engine, const sfl_transcription_params* params,
                                       const sfl_audio* audio, sfl_transcription** job,
                                       sfl_error* error) {
  if ((params->flags & SFL_TRANSLATE) != 0) {
    return example_fail(error, SFL_UNIMPLEMENTED, "loudness cannot be translated");
  }
  if (engine->transcriptions == EXAMPLE_MAX_TRANSCRIPTIONS) {
    return example_fail(error, SFL_RESOURCE_EXHAUSTED, "too many transcriptions");
  }
  *job = calloc(1, sizeof **job);
  if (*job == NULL) return example_fail(error, SFL_RESOURCE_EXHAUSTED, "out of memory");
  (*job)->audio = *audio;
  ++engine->transcriptions;
  return SFL_OK;
}

static int64_t now_ms(const sfl_transcription* job) { return job->samples * 1000 / RATE_HZ; }

static double decibels(double mean_square) { return 10 * log10(mean_square + 1e-12); }

/* Hands over the stretch that is open, if there is one. What emit returns, the step returns: the
 * host may have no room. */
static sfl_status close_stretch(sfl_transcription* job, const sfl_step* step, sfl_error* error) {
  char text[48];
  sfl_segment segment = {0};
  if (job->loud_frames == 0) return SFL_OK;
  snprintf(text, sizeof text, "sound at %.0f dB", decibels(job->energy / job->loud_frames));
  segment.struct_size = sizeof segment;
  segment.start_ms = job->start_ms;
  segment.end_ms = job->end_ms;
  segment.text = (sfl_string){text, strlen(text)};
  job->loud_frames = 0;
  job->energy = 0;
  return step->emit(step->user, &segment, error);
}

static sfl_status hear_frame(sfl_transcription* job, const sfl_step* step, sfl_error* error) {
  double mean_square = 0;
  const int64_t start_ms = now_ms(job);
  for (size_t i = 0; i < job->filled; ++i) {
    mean_square += (double)job->frame[i] * (double)job->frame[i] / (double)job->filled;
  }
  job->samples += (int64_t)job->filled;
  job->filled = 0;
  if (decibels(mean_square) < LOUD_DB) {
    if (job->loud_frames == 0 || ++job->quiet_frames < QUIET_FRAMES_THAT_END) return SFL_OK;
    return close_stretch(job, step, error);
  }
  if (job->loud_frames == 0) job->start_ms = start_ms;
  ++job->loud_frames;
  job->quiet_frames = 0;
  job->energy += mean_square;
  job->end_ms = now_ms(job);
  return SFL_OK;
}

/* Reads until a frame is full; the last one may stay shorter. */
static sfl_status fill_frame(sfl_transcription* job, uint32_t* state, sfl_error* error) {
  *state = SFL_AUDIO_MORE;
  while (job->filled < FRAME && *state == SFL_AUDIO_MORE) {
    sfl_audio_block block = {0};
    const sfl_status status = job->audio.read(job->audio.user, job->frame + job->filled,
                                              FRAME - job->filled, &block, error);
    if (status != SFL_OK) return status;
    job->filled += block.frames;
    *state = block.state;
  }
  return SFL_OK;
}

sfl_status example_transcription_step(sfl_engine* engine, sfl_transcription* job,
                                      const sfl_step* step, uint32_t* outcome, sfl_error* error) {
  (void)engine;
  for (int i = 0; i < FRAMES_PER_STEP; ++i) {
    uint32_t state = SFL_AUDIO_MORE;
    sfl_status status = SFL_OK;
    if (step->cancelled(step->user)) return SFL_CANCELLED;
    status = fill_frame(job, &state, error);
    if (status != SFL_OK) return status;
    if (state == SFL_AUDIO_STARVED) { /* live audio; what there is of a frame is kept */
      *outcome = SFL_STEP_WAITING_FOR_AUDIO;
      return SFL_OK;
    }
    if (job->filled > 0) status = hear_frame(job, step, error);
    if (status != SFL_OK) return status;
    if (state == SFL_AUDIO_END) {
      *outcome = SFL_STEP_DONE;
      return close_stretch(job, step, error);
    }
  }
  *outcome = SFL_STEP_MORE;
  return SFL_OK;
}

sfl_status example_transcription_progress(sfl_engine* engine, sfl_transcription* job,
                                          sfl_progress* progress, sfl_error* error) {
  (void)engine;
  (void)error;
  progress->audio_ms = now_ms(job);
  progress->audio_total_ms = job->audio.total_us > 0 ? job->audio.total_us / 1000 : 0;
  memcpy(progress->language, "zxx", sizeof "zxx"); /* "no linguistic content" */
  return SFL_OK;
}

void example_transcription_free(sfl_engine* engine, sfl_transcription* job) {
  --engine->transcriptions;
  free(job);
}
