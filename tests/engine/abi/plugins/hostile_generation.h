/* What the parts of the second hostile engine share: one that generates tokens, and does the wrong
 * thing that its option `mode` names. Where it does none it answers by the rules. What the host's
 * callbacks answered it logs, as "3,9,0,". */
#ifndef SUPERFLUID_TESTS_ENGINE_ABI_PLUGINS_HOSTILE_GENERATION_H_
#define SUPERFLUID_TESTS_ENGINE_ABI_PLUGINS_HOSTILE_GENERATION_H_

#include "engine/abi/superfluid_engine.h"

enum { VOCAB = 100, GUARD = 8 };

struct sfl_engine {
  char mode[64];
  sfl_host host;
  uint64_t last_handle;
  sfl_tick late_tick; /* of a tick that is over */
  sfl_state_step late_step;
  int ticks;
  int calls; /* of what may be asked for more room */
  char answers[128];
};

struct sfl_state_job {
  void* out;
  size_t size;
  int steps;
};

/* Whether the engine is to do this wrong thing. */
int bad(const sfl_engine* engine, const char* mode);

/* Appends the number and a comma to the answers; logs and forgets them. */
void note(sfl_engine* engine, int64_t answer);
void tell(sfl_engine* engine);

/* A handle that was never handed out; 0 or an old one if `mode` with "_zero" or "_twice" behind it
 * is the engine's. */
uint64_t new_handle(sfl_engine* engine, const char* mode);

/* Writes past the end of `bytes` bytes at `memory`. */
void overrun(void* memory, size_t bytes);

sfl_status state_spaces(sfl_engine*, sfl_list*, sfl_error*);
sfl_status strategies(sfl_engine*, sfl_list*, sfl_error*);
sfl_status run_tick(sfl_engine*, const sfl_tick*, sfl_error*);
sfl_status snapshot_boundary(sfl_engine*, uint64_t, uint32_t, uint64_t, uint64_t*, sfl_error*);
sfl_status export_size(sfl_engine*, const sfl_state_range*, sfl_export_size*, sfl_error*);
sfl_status provenance(sfl_engine*, const sfl_state_range*, sfl_digest*, sfl_error*);
sfl_status export_start(sfl_engine*, const sfl_state_export*, void*, size_t, sfl_state_job**,
                        sfl_error*);
sfl_status import_start(sfl_engine*, const sfl_state_import*, const void*, size_t, sfl_state_job**,
                        sfl_error*);
sfl_status state_step(sfl_engine*, sfl_state_job*, const sfl_state_step*, sfl_state_progress*,
                      sfl_error*);
void state_free(sfl_engine*, sfl_state_job*);
sfl_status match(sfl_engine*, const sfl_prefix*, sfl_list*, sfl_error*);
sfl_status acquire_seed(sfl_engine*, const sfl_prefix*, sfl_lease*, sfl_error*);
sfl_status evict_cache(sfl_engine*, uint64_t, const sfl_evict_policy*, uint64_t*, sfl_error*);
sfl_status embed(sfl_engine*, const uint32_t*, size_t, const sfl_call*, sfl_list*, sfl_error*);
sfl_status forward_stage(sfl_engine*, const sfl_stage*, const sfl_call*, sfl_stage_result*,
                         sfl_output*, sfl_error*);
sfl_status probe_media(sfl_engine*, sfl_string, const sfl_call*, sfl_media_info*, sfl_error*);
sfl_status encode_media(sfl_engine*, sfl_string, const sfl_call*, uint64_t*, sfl_media_info*,
                        sfl_error*);
sfl_status register_strategy(sfl_engine*, const sfl_strategy*, sfl_strategy_terms*, sfl_error*);

#endif /* SUPERFLUID_TESTS_ENGINE_ABI_PLUGINS_HOSTILE_GENERATION_H_ */
