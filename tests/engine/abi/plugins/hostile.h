/* What the parts of the hostile engine share. The engine does the wrong thing that its option
 * `mode` names. It writes down what the host's callbacks answered, as "3,9,0,", and reports that as
 * the text of its last segment, as the language of Progress, or by its memory counters. */
#ifndef SUPERFLUID_TESTS_ENGINE_ABI_PLUGINS_HOSTILE_H_
#define SUPERFLUID_TESTS_ENGINE_ABI_PLUGINS_HOSTILE_H_

#include "engine/abi/superfluid_engine.h"

struct sfl_engine {
  char mode[64];
  sfl_host host;
  sfl_step late_step;   /* of a step that is over */
  sfl_audio late_audio; /* of a job that is freed */
  int describes;
};

struct sfl_transcription {
  sfl_audio audio;
  char answers[64];
  int steps;
};

/* Appends the number and a comma to the answers of `job`. */
void hostile_note(sfl_transcription* job, int64_t answer);

/* A whole second of audio, then one segment with `text`. */
sfl_status hostile_emit(const sfl_step* step, const char* text);
void hostile_read_second(sfl_transcription* job);
sfl_segment hostile_segment(const char* text);

int hostile_is(const sfl_engine* engine, const char* mode);

sfl_status hostile_describe(sfl_engine* engine, sfl_engine_info* info, sfl_output* capabilities,
                            sfl_error* error);
sfl_status hostile_step(sfl_engine* engine, sfl_transcription* job, const sfl_step* step,
                        uint32_t* outcome, sfl_error* error);

#endif /* SUPERFLUID_TESTS_ENGINE_ABI_PLUGINS_HOSTILE_H_ */
