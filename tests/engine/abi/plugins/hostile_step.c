#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/abi/plugins/hostile.h"

sfl_segment hostile_segment(const char* text) {
  sfl_segment segment = {0};
  segment.struct_size = sizeof segment;
  segment.end_ms = 1000;
  segment.text = (sfl_string){text, strlen(text)};
  return segment;
}

sfl_status hostile_emit(const sfl_step* step, const char* text) {
  const sfl_segment segment = hostile_segment(text);
  return step->emit(step->user, &segment, NULL);
}

void hostile_read_second(sfl_transcription* job) {
  static float samples[16000];
  size_t frames = 0;
  sfl_audio_block block = {0};
  while (frames < 16000 && block.state == SFL_AUDIO_MORE) {
    if (job->audio.read(job->audio.user, samples, 16000 - frames, &block, NULL) != SFL_OK) return;
    frames += block.frames;
  }
}

static sfl_status emit(const sfl_step* step, sfl_segment segment) {
  return step->emit(step->user, &segment, NULL);
}

/* Segments that the host must refuse, each in its own way. */
static void emit_bad_segments(sfl_transcription* job, const sfl_step* step) {
  const sfl_segment good = hostile_segment("good");
  const sfl_word word = {0, 1, {NULL, 5}, 0, 0};
  sfl_segment bad = good;
  hostile_note(job, step->emit(step->user, NULL, NULL));
  hostile_note(job, step->emit(NULL, &good, NULL));
  hostile_note(job, step->emit((void*)(uintptr_t)0xDEADBEEF, &good, NULL));
  bad.struct_size = 8;
  hostile_note(job, emit(step, bad));
  bad = good, bad.text = (sfl_string){NULL, 5};
  hostile_note(job, emit(step, bad));
  bad = good, bad.text.size = SIZE_MAX;
  hostile_note(job, emit(step, bad));
  bad = good, bad.word_count = 1, bad.word_size = sizeof word;
  hostile_note(job, emit(step, bad));
  bad.words = &word;
  hostile_note(job, emit(step, bad));
  bad.word_size = 1;
  hostile_note(job, emit(step, bad));
  bad.word_size = SIZE_MAX;
  hostile_note(job, emit(step, bad));
  bad.word_size = sizeof word, bad.word_count = SIZE_MAX;
  hostile_note(job, emit(step, bad));
}

/* Reads that the host must refuse, or cut. */
static void read_badly(sfl_transcription* job) {
  float* const samples = malloc(SFL_MAX_READ_FRAMES * sizeof *samples);
  const sfl_audio audio = job->audio;
  sfl_audio_block block = {0};
  sfl_error nowhere = {NULL, SIZE_MAX};
  sfl_error no_room = {(char*)samples, 0};
  hostile_note(job, audio.read(NULL, samples, 1, &block, NULL));
  hostile_note(job, audio.read((void*)(uintptr_t)0xDEADBEEF, samples, 1, &block, &nowhere));
  hostile_note(job, audio.read(audio.user, NULL, 1, &block, &no_room));
  hostile_note(job, audio.read(audio.user, NULL, 0, &block, NULL));
  hostile_note(job, audio.read(audio.user, samples, 1, NULL, NULL));
  hostile_note(job, audio.read(audio.user, samples, SIZE_MAX, &block, NULL));
  hostile_note(job, block.frames <= SFL_MAX_READ_FRAMES);
  free(samples);
}

struct visit {
  sfl_transcription* job;
  const sfl_step* step;
};

static void* call_from_elsewhere(void* raw) {
  const struct visit* const visit = raw;
  float samples[16];
  sfl_audio_block block = {0};
  hostile_note(visit->job, hostile_emit(visit->step, "from elsewhere"));
  hostile_note(visit->job,
               visit->job->audio.read(visit->job->audio.user, samples, 16, &block, NULL));
  hostile_note(visit->job, visit->step->cancelled(visit->step->user));
  return NULL;
}

static void visit_from_elsewhere(sfl_transcription* job, const sfl_step* step) {
  struct visit visit = {job, step};
  pthread_t thread;
  if (pthread_create(&thread, NULL, call_from_elsewhere, &visit) != 0) abort();
  pthread_join(thread, NULL);
}

/* Segments that the host must repair: bad text, numbers and times. */
static void emit_rubbish(const sfl_step* step) {
  sfl_word words[2] = {{-5, INT64_MAX, {"a\xFF", 2}, NAN, 0}, {INT64_MIN, -1, {"b\0c", 3}, 7, 0}};
  sfl_segment segment = hostile_segment("caf\xC3");
  segment.start_ms = INT64_MIN;
  segment.end_ms = INT64_MAX;
  segment.avg_logprob = NAN;
  segment.no_speech_prob = INFINITY;
  segment.compression_ratio = -1;
  segment.temperature = -INFINITY;
  segment.words = words;
  segment.word_count = 2;
  segment.word_size = sizeof words[0];
  emit(step, segment);
  segment = hostile_segment("back");
  segment.start_ms = 500;
  segment.end_ms = 100;
  emit(step, segment);
}

static void emit_too_many(sfl_transcription* job, const sfl_step* step) {
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    if (hostile_emit(step, "one of many") == SFL_OK) ++accepted;
  }
  hostile_note(job, accepted);
}

static sfl_status step_result(const sfl_engine* engine, uint32_t* outcome) {
  *outcome = SFL_STEP_DONE;
  if (hostile_is(engine, "outcome_99")) *outcome = 99;
  if (hostile_is(engine, "outcome_unset")) *outcome = UINT_MAX;
  if (hostile_is(engine, "step_code_77")) return 77;
  if (hostile_is(engine, "step_code_negative")) return -1;
  if (hostile_is(engine, "step_false_cancel")) return SFL_CANCELLED;
  return SFL_OK;
}

sfl_status hostile_step(sfl_engine* engine, sfl_transcription* job, const sfl_step* step,
                        uint32_t* outcome, sfl_error* error) {
  (void)error;
  engine->late_step = *step;
  ++job->steps;
  hostile_read_second(job);
  if (hostile_is(engine, "bad_segments")) emit_bad_segments(job, step);
  if (hostile_is(engine, "bad_reads")) read_badly(job);
  if (hostile_is(engine, "foreign_thread")) visit_from_elsewhere(job, step);
  if (hostile_is(engine, "rubbish")) emit_rubbish(step);
  if (hostile_is(engine, "too_many")) emit_too_many(job, step);
  /* What the host passed is the host's; a plug-in that writes there anyway harms itself only. */
  if (hostile_is(engine, "clobber"))
    memset((void*)(uintptr_t)step, 0xAB, sizeof *step);
  else
    hostile_emit(step, job->answers);
  return step_result(engine, outcome);
}
