/* The C interface between the worker (the host) and an engine (a plug-in, one shared library).
 *
 * C11, also C++. A plug-in includes this header only, defines `superfluid_engine_entry`, and links
 * to nothing of the host. C++ authors take engine/sdk instead, which wraps all of this.
 *
 * Versions. SFL_ABI_VERSION changes only if something below changes its meaning; host and plug-in
 * must agree on it. Everything else grows at the end of a struct: each struct begins with
 * `struct_size`, set to sizeof by the side that allocates it. A reader takes no field beyond
 * `struct_size`, and takes an absent field, like a NULL function, as "not supported".
 * Padding and `reserved` fields are zero.
 *
 * Threads. The host calls a given engine from one thread only, the one that called `create`. The
 * plug-in calls `log` and `cancelled` from any thread, the other callbacks only on the engine's
 * thread and only during the call that provided them. Threads that a plug-in starts must have ended
 * when `destroy` returns.
 *
 * Memory. Nothing allocated by one side is freed by the other. What the host passes in is valid
 * during that call, unless said otherwise; what the plug-in passes to a callback must be valid
 * during the callback, and is copied.
 *
 * Strings are UTF-8 with a length; those from the host also have a NUL at data[size]. The host
 * replaces ill-formed UTF-8 (and NULs) in a plug-in's text by U+FFFD.
 *
 * Errors. A function returns SFL_OK or an error code, and with an error may write a message. The
 * host survives wrong pointers and numbers in what a plug-in hands over as far as that can be seen:
 * it refuses null pointers with counts, counts above the limits below, unknown codes, calls at the
 * wrong time or from the wrong thread. No C++ exception may leave a plug-in; the host's callbacks
 * throw none.
 */
#ifndef SUPERFLUID_ENGINE_ABI_SUPERFLUID_ENGINE_H_
#define SUPERFLUID_ENGINE_ABI_SUPERFLUID_ENGINE_H_

/* The checks of C++ code do not fit a C header. NOLINTBEGIN */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SFL_ABI_VERSION 1u
#define SFL_ENTRY_SYMBOL "superfluid_engine_entry"

#if defined(__GNUC__)
#define SFL_EXPORT __attribute__((visibility("default")))
#else
#define SFL_EXPORT
#endif

/* Limits on what a plug-in hands over. */
#define SFL_MAX_OUTPUT_BYTES ((size_t)1 << 20) /* an sfl_output                    */
#define SFL_MAX_TEXT_BYTES ((size_t)1 << 20)   /* the text of a segment            */
#define SFL_MAX_WORDS ((size_t)1 << 16)        /* words of a segment               */
#define SFL_MAX_WORD_BYTES ((size_t)4096)      /* the text of a word               */
#define SFL_MAX_SEGMENTS_PER_STEP 1024         /* emits during one step            */
#define SFL_MAX_READ_FRAMES ((size_t)65536)    /* audio frames that one read fills */
#define SFL_MAX_LOG_BYTES ((size_t)8192)       /* longer messages are cut          */

/* The canonical status codes, with the numbers that absl and gRPC give them. */
typedef int32_t sfl_status;
enum {
  SFL_OK = 0,
  SFL_CANCELLED = 1,
  SFL_UNKNOWN = 2,
  SFL_INVALID_ARGUMENT = 3,
  SFL_DEADLINE_EXCEEDED = 4,
  SFL_NOT_FOUND = 5,
  SFL_ALREADY_EXISTS = 6,
  SFL_PERMISSION_DENIED = 7,
  SFL_RESOURCE_EXHAUSTED = 8, /* out of memory, too many jobs */
  SFL_FAILED_PRECONDITION = 9,
  SFL_ABORTED = 10,
  SFL_OUT_OF_RANGE = 11,
  SFL_UNIMPLEMENTED = 12,
  SFL_INTERNAL = 13,
  SFL_UNAVAILABLE = 14,
  SFL_DATA_LOSS = 15
};

typedef struct sfl_engine sfl_engine;               /* the plug-in's own */
typedef struct sfl_transcription sfl_transcription; /* the plug-in's own */

typedef struct sfl_string {
  const char* data; /* may be NULL if size is 0 */
  size_t size;
} sfl_string;

/* Room for an error message, owned by the caller. The callee writes at most `capacity` bytes, the
 * last of them a NUL. Any callee accepts a NULL sfl_error. */
typedef struct sfl_error {
  char* message;
  size_t capacity;
} sfl_error;

/* Room for an answer of unknown length, owned by the caller. The callee writes at most `capacity`
 * bytes and sets `size` to the length of the whole answer. If that is more than `capacity`, the
 * caller may call again with more room, up to SFL_MAX_OUTPUT_BYTES. */
typedef struct sfl_output {
  char* data;
  size_t capacity;
  size_t size;
} sfl_output;

/* Writes `text` (NUL-terminated) into `error`, cut to fit. */
static inline void sfl_set_error(sfl_error* error, const char* text) {
  size_t i = 0;
  if (error == NULL || error->message == NULL || error->capacity == 0) return;
  for (; text != NULL && text[i] != '\0' && i + 1 < error->capacity; ++i) {
    error->message[i] = text[i];
  }
  error->message[i] = '\0';
}

/* ---- Creating an engine ---------------------------------------------------------------------- */

enum { SFL_LOG_DEBUG = 0, SFL_LOG_INFO = 1, SFL_LOG_WARNING = 2, SFL_LOG_ERROR = 3 };

/* What the host offers to an engine. Valid until `destroy` returns. */
typedef struct sfl_host {
  uint32_t struct_size;
  uint32_t abi_version; /* SFL_ABI_VERSION of the host */
  void* user;           /* passed to the functions below; opaque, never dereferenced */
  /* Logs one line. Any thread, any time; a NULL text or an unknown level is tolerated. */
  void (*log)(void* user, int32_t level, const char* text, size_t size);
} sfl_host;

typedef struct sfl_option {
  sfl_string key;
  sfl_string value;
} sfl_option;

typedef struct sfl_config {
  uint32_t struct_size;
  int32_t device;        /* accelerator index */
  int32_t threads;       /* compute threads to use; 0 means one, not the library's default */
  uint32_t option_count; /* of `options`, in the order given by the user; keys may repeat */
  const sfl_option* options;
  sfl_string model_path; /* empty: the engine's default model, if it has one */
} sfl_config;

/* The host zeroes the struct and sets struct_size; the plug-in fills in the rest. */
typedef struct sfl_engine_info {
  uint32_t struct_size;
  uint32_t max_transcriptions; /* that may exist at once; 0: none */
  uint32_t max_lanes;          /* lanes of a tick; 0: no ticks */
  uint32_t kv_bits;            /* bits of one KV element; 0: no KV state */
  int64_t micro_step_us;       /* longest single step expected; 0: the host's default (20 ms) */
  char name[64];               /* NUL-terminated; [A-Za-z0-9_-]+ */
  char version[128];           /* NUL-terminated; for people */
} sfl_engine_info;

/* In bytes or blocks, in the terms of Link W. Zeroed by the host. */
typedef struct sfl_memory {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t allocated_bytes;
  uint64_t host_retained_bytes;
  uint64_t pool_blocks_total;
  uint64_t pool_blocks_used;
  uint64_t pool_bytes_evictable;
  uint64_t tentative_bytes;
} sfl_memory;

/* ---- Transcribing ---------------------------------------------------------------------------- */

enum { SFL_AUDIO_MORE = 0, SFL_AUDIO_STARVED = 1, SFL_AUDIO_END = 2 };

typedef struct sfl_audio_block {
  size_t frames;  /* samples written to the front of the buffer; may be 0 */
  uint32_t state; /* SFL_AUDIO_MORE; _STARVED: live audio, no more for now; _END: these were last */
  uint32_t reserved;
} sfl_audio_block;

/* The audio of one transcription: mono float samples in [-1, 1] at 16000 Hz. The struct may be
 * copied, and is valid until `transcription_free` is called. */
typedef struct sfl_audio {
  uint32_t struct_size;
  uint32_t sample_rate_hz; /* 16000 */
  int64_t total_us;        /* length as the container claims it; -1: not known */
  void* user;
  /* Writes up to `capacity` samples to `out` and fills in `block`. Only during transcription_start
   * and transcription_step of its own job. Errors: INVALID_ARGUMENT (the audio cannot be decoded,
   * or a NULL), FAILED_PRECONDITION (wrong time or thread). */
  sfl_status (*read)(void* user, float* out, size_t capacity, sfl_audio_block* block,
                     sfl_error* error);
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

/* ---- The table ------------------------------------------------------------------------------- */

/* Constant, and valid as long as the library is loaded (which is for ever). New functions are
 * appended. Functions without 'may be NULL' must be there. */
typedef struct sfl_engine_vtable {
  uint32_t struct_size;
  uint32_t abi_version; /* SFL_ABI_VERSION */

  /* Loads the model and makes an engine; may take long. On success *engine is not NULL. Several
   * engines may exist, each on its own thread. On failure nothing remains. */
  sfl_status (*create)(const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                       sfl_error* error);

  /* Frees the engine. The host has freed every transcription before. */
  void (*destroy)(sfl_engine* engine);

  /* Fills in `info`, which never changes, and writes a JSON object of what is supported to
   * `capabilities`. */
  sfl_status (*describe)(sfl_engine* engine, sfl_engine_info* info, sfl_output* capabilities,
                         sfl_error* error);

  /* Memory in use. May be NULL. */
  sfl_status (*memory)(sfl_engine* engine, sfl_memory* memory, sfl_error* error);

  /* Drops what outlives a link (caches, sequences, adapters). No transcription exists. May be
   * NULL. */
  sfl_status (*reset)(sfl_engine* engine, sfl_error* error);

  /* Starts a transcription; on success *job is not NULL. Errors: UNIMPLEMENTED (a language or
   * option that the engine lacks), INVALID_ARGUMENT, RESOURCE_EXHAUSTED (too many jobs). All four
   * transcription functions may be NULL together. */
  sfl_status (*transcription_start)(sfl_engine* engine, const sfl_transcription_params* params,
                                    const sfl_audio* audio, sfl_transcription** job,
                                    sfl_error* error);

  /* Does one bounded piece of work and sets *outcome to an SFL_STEP_ value. Not called again after
   * an error or SFL_STEP_DONE. Errors: CANCELLED (after `cancelled` said so), INVALID_ARGUMENT
   * (audio that cannot be decoded), anything else is an engine failure. */
  sfl_status (*transcription_step)(sfl_engine* engine, sfl_transcription* job, const sfl_step* step,
                                   uint32_t* outcome, sfl_error* error);

  sfl_status (*transcription_progress)(sfl_engine* engine, sfl_transcription* job,
                                       sfl_progress* progress, sfl_error* error);

  /* Frees a job at any time, done or not; as cheap as a step. */
  void (*transcription_free)(sfl_engine* engine, sfl_transcription* job);
} sfl_engine_vtable;

/* The one symbol that a plug-in exports. Called once or more, from any thread. Returns NULL if the
 * plug-in cannot serve a host of this version. */
typedef const sfl_engine_vtable* (*sfl_entry_fn)(uint32_t host_abi_version);
SFL_EXPORT const sfl_engine_vtable* superfluid_engine_entry(uint32_t host_abi_version);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* NOLINTEND */

#endif /* SUPERFLUID_ENGINE_ABI_SUPERFLUID_ENGINE_H_ */
