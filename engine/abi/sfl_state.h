/* Of the C interface between worker and engine: the state of sequences, on the device and off it,
 * and the cache of prefixes. See superfluid_engine.h. */
#ifndef SUPERFLUID_ENGINE_ABI_SFL_STATE_H_
#define SUPERFLUID_ENGINE_ABI_SFL_STATE_H_

/* The checks of C++ code do not fit a C header. NOLINTBEGIN */

#include "sfl_core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SFL_MAX_STATE_SPACES 64
#define SFL_MAX_NAME_BYTES 256 /* of a name in a fixed array, its NUL included */

typedef struct sfl_state_job sfl_state_job; /* the plug-in's own */

/* One kind of per-sequence state: the KV cache of attention layers, a recurrent state, ... */
typedef struct sfl_state_space {
  uint32_t struct_size;
  uint32_t id;              /* 0 is a valid one; no two spaces have the same */
  uint64_t bytes_per_token; /* 0: the state does not grow by token */
  uint32_t boundary_tokens; /* exports end and trims cut at multiples of this; at least 1 */
  uint32_t reserved;
  uint64_t encodings;    /* bit n: encoding n can be exported; bit 0, the raw form, is set */
  sfl_digest compat_key; /* equal keys: state of one engine can be imported by the other */
  char name[SFL_MAX_NAME_BYTES]; /* NUL-terminated; for people */
} sfl_state_space;

/* Token positions [start, end) of one space of a sequence. */
typedef struct sfl_state_range {
  uint32_t struct_size;
  uint32_t space;
  uint64_t sequence;
  uint64_t start;
  uint64_t end;
  uint32_t encoding; /* not read by `provenance` */
  uint32_t reserved;
} sfl_state_range;

/* The host sets every byte of `bytes` to 0xFF; leaving it so is a mistake. */
typedef struct sfl_export_size {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t bytes;
  uint64_t sizing_gen; /* changes whenever an export of the range could have other bytes or size */
} sfl_export_size;

enum {
  /* Demote: once the export is done the device copy is freed, and the range is missing until it is
   * imported again. Until then the sequence is as before. */
  SFL_EXPORT_FREE_DEVICE_COPY = 1u
};

/* State that leaves the device. */
typedef struct sfl_state_export {
  uint32_t struct_size;
  uint32_t flags;
  sfl_state_range what;
} sfl_state_export;

enum {
  /* Restore: the range starts at 0 and replaces all of the sequence's state in this space. Without:
   * Promote, which fills in exactly the range that a demote freed, of the same provenance. */
  SFL_IMPORT_REPLACE = 1u
};

/* State that comes back. */
typedef struct sfl_state_import {
  uint32_t struct_size;
  uint32_t flags;
  sfl_state_range what;
  sfl_digest provenance; /* what the export's was */
} sfl_state_import;

/* What one state_step may use. Valid during that step. */
typedef struct sfl_state_step {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t budget_us; /* how long the step should take */
  void* user;
  /* Non-zero: stop and return SFL_CANCELLED. Any thread; non-zero also once the step is over. */
  uint32_t (*cancelled)(void* user);
} sfl_state_step;

enum {
  SFL_STATE_MORE = 0,
  SFL_STATE_WAITING = 1, /* nothing to do at this moment (a copy is under way) */
  SFL_STATE_DONE = 2     /* the bytes are written, or the state is in place */
};
#define SFL_STATE_UNSET 0xFFFFFFFFu /* what the host sets; leaving it is a mistake */

/* Filled in by each successful state_step. */
typedef struct sfl_state_progress {
  uint32_t struct_size;
  uint32_t outcome;     /* an SFL_STATE_ value */
  uint64_t bytes_moved; /* so far; never falls, and never more than the job's memory has */
} sfl_state_progress;

/* A prefix of tokens. `media_deps` (fingerprints of the media that tokens stand for) are part of
 * the cache's key. */
typedef struct sfl_prefix {
  uint32_t struct_size;
  uint32_t determinism_class; /* of acquire_seed: how the prefix must have been computed */
  const uint32_t* tokens;
  size_t token_count;
  const uint64_t* media_deps;
  size_t media_dep_count;
  uint64_t prefix_len; /* of acquire_seed: lease this many of the tokens; at most token_count */
} sfl_prefix;

/* How far a prefix is cached in one space. */
typedef struct sfl_space_match {
  uint32_t space;
  uint32_t reserved;
  uint64_t matched_tokens;
} sfl_space_match;

/* A lease pins the blocks of a cached prefix until it is released, expires (whichever of the two
 * limits comes first), or is adopted: a new sequence whose first input starts with exactly the
 * leased prefix takes it over. */
typedef struct sfl_lease {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t seed;
  uint64_t ttl_ms;
  uint64_t ttl_ticks;
} sfl_lease;

typedef struct sfl_evict_policy {
  uint32_t struct_size;
  uint32_t classes;         /* bit n: entries of cache class n may go */
  uint64_t protected_bytes; /* keep at least so much of the cache */
  uint64_t max_bytes;       /* free at most so much; 0: no limit */
} sfl_evict_policy;

typedef struct sfl_cache_key {
  sfl_digest compat_key;
  sfl_digest provenance;
} sfl_cache_key;

#ifdef __cplusplus
} /* extern "C" */
#endif

/* NOLINTEND */

#endif /* SUPERFLUID_ENGINE_ABI_SFL_STATE_H_ */
