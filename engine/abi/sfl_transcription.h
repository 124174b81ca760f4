/* Of the C interface between worker and engine: transcribing. See superfluid_engine.h. */
#ifndef SUPERFLUID_ENGINE_ABI_SFL_TRANSCRIPTION_H_
#define SUPERFLUID_ENGINE_ABI_SFL_TRANSCRIPTION_H_

/* The checks of C++ code do not fit a C header. NOLINTBEGIN */

#include "sfl_core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SFL_MAX_TEXT_BYTES ((size_t)1 << 20) /* the text of a segment            */
#define SFL_MAX_WORDS ((size_t)1 << 16)      /* words of a segment               */
#define SFL_MAX_WORD_BYTES ((size_t)4096)    /* the text of a word               */
#define SFL_MAX_SEGMENTS_PER_STEP 1024       /* emits during one step            */
#define SFL_MAX_READ_FRAMES ((size_t)65536)  /* audio frames that one read fills */

typedef struct sfl_transcription sfl_transcription; /* the plug-in's own */

enum { SFL_AUDIO_MORE = 0, SFL_AUDIO_STARVED = 1, SFL_AUDIO_END = 2 };

enum { SFL_AUDIO_LIVE = 1u }; /* still being made: text is wanted before its end */

typedef struct sfl_audio_block {
  size_t frames;  /* samples written to the front of the buffer; may be 0 */
  uint32_t state; /* SFL_AUDIO_MORE; _STARVED: no more for now; _END: these were last */
  uint32_t reserved;
} sfl_audio_block;

/* The audio of one transcription: mono float samples in [-1, 1] at 16000 Hz. The struct may be
 * copied, and is valid until `transcription_free` is called. */
typedef struct sfl_audio {
  uint32_t struct_size;
  uint32_t sample_rate_hz; /* 16000 */
  int64_t total_us;        /* length as the container claims it; -1: not known, as of live audio */
  void* user;
  /* Writes up to `capacity` samples to `out` and fills in `block`. Only during transcription_start
   * and transcription_step of its own job. Errors: INVALID_ARGUMENT (the audio cannot be decoded,
   * or a NULL), FAILED_PRECONDITION (wrong time or thread). */
  sfl_status (*read)(void* user, float* out, size_t capacity, sfl_audio_block* block,
                     sfl_error* error);
  uint32_t flags; /* SFL_AUDIO_ values; a recording may be starved as well: its file may be slow */
  uint32_t reserved;
} sfl_audio;

/* Times count from the first sample, in milliseconds. */
typedef struct sfl_word {
  int64_t start_ms;
  int64_t end_ms;
  sfl_string text;
  float probability; /* [0, 1] */
  uint32_t reserved;
} sfl_word;

enum { SFL_SEGMENT_PARTIAL = 1u }; /* may still change; the next segment replaces it */

/* Final segments come in order and do not overlap. The host moves times that go backwards, are
 * negative or lie after the audio read so far, and turns NaNs into 0. */
typedef struct sfl_segment {
  uint32_t struct_size;
  uint32_t flags;
  int64_t start_ms;
  int64_t end_ms;
  sfl_string text;
  float avg_logprob;
  float no_speech_prob;
  float compression_ratio;
  float temperature;
  const sfl_word* words;
  size_t word_count;
  size_t word_size; /* sizeof(sfl_word) as the plug-in sees it: the stride of `words` */
} sfl_segment;

enum { SFL_TRANSLATE = 1u, SFL_TIMESTAMPS = 2u, SFL_PARTIAL_RESULTS = 4u };

typedef struct sfl_transcription_params {
  uint32_t struct_size;
  uint32_t flags;
  sfl_string language; /* empty: detect or assume */
  sfl_string prompt;   /* text that precedes the audio; may be ignored */
} sfl_transcription_params;

/* What one step may use. Valid during that step. */
typedef struct sfl_step {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t budget_us; /* how long the step should take */
  void* user;
  /* Non-zero: stop and return SFL_CANCELLED. Any thread; non-zero also once the step is over. */
  uint32_t (*cancelled)(void* user);
  /* Hands over one segment, copied. Errors: INVALID_ARGUMENT (NULL, a count or size over the
   * limits), RESOURCE_EXHAUSTED (too many in this step), FAILED_PRECONDITION (wrong time or
   * thread), INTERNAL (the host failed; the step's result will be an error). */
  sfl_status (*emit)(void* user, const sfl_segment* segment, sfl_error* error);
} sfl_step;

enum { SFL_STEP_MORE = 0, SFL_STEP_WAITING_FOR_AUDIO = 1, SFL_STEP_DONE = 2 };

/* Zeroed by the host. */
typedef struct sfl_progress {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t audio_ms;       /* consumed so far */
  int64_t audio_total_ms; /* 0: not known */
  char language[64];      /* NUL-terminated; as recognised or assumed */
} sfl_progress;

#ifdef __cplusplus
} /* extern "C" */
#endif

/* NOLINTEND */

#endif /* SUPERFLUID_ENGINE_ABI_SFL_TRANSCRIPTION_H_ */
