/* An engine in plain C, to be read, copied and changed: what its files share.
 *
 *   example_engine.c         creating, describing, the table of functions
 *   example_model.c          the "model": what token comes next, and drawing it
 *   example_sequences.c      sequences and logit biases
 *   example_ticks.c          running ticks
 *   example_state.c          state that leaves the engine and comes back
 *   example_transcription.c  audio in, segments out
 *
 * Tokens are bytes, and one that ends the text. The next byte is what follows most often, in a text
 * that serves as the model, after what the sequence ends with. */
#ifndef SUPERFLUID_ENGINE_EXAMPLES_EXAMPLE_ENGINE_H_
#define SUPERFLUID_ENGINE_EXAMPLES_EXAMPLE_ENGINE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/abi/superfluid_engine.h"

enum {
  EXAMPLE_VOCAB = 257, /* the bytes, and EXAMPLE_END */
  EXAMPLE_END = 256,
  EXAMPLE_MAX_LANES = 64,
  EXAMPLE_MAX_SEQUENCES = 1024,
  EXAMPLE_MAX_BIASES = 64,
  EXAMPLE_MAX_TRANSCRIPTIONS = 4,
  EXAMPLE_MAX_MODEL_BYTES = 65536,
  EXAMPLE_SPACE = 0, /* the id of the one state space */
  EXAMPLE_MAX_CONTEXT = 1 << 20
};

/* What the engine keeps of each token, and what an export has of it: 16 bytes. `chain` is a hash of
 * this token and all before it, so that wrong bytes are found when state comes back. */
typedef struct example_entry {
  uint64_t chain;
  uint32_t token;
  uint32_t reserved; /* 0 */
} example_entry;

typedef struct example_sequence {
  uint64_t handle;
  uint64_t changes; /* goes up with every change */
  size_t length;
  size_t capacity;
  example_entry* entries;
  /* What a demote took away; empty if both are equal. */
  size_t missing_start;
  size_t missing_end;
  sfl_digest missing_provenance;
} example_sequence;

typedef struct example_bias {
  uint64_t handle;
  float values[EXAMPLE_VOCAB];
} example_bias;

/* Zeroed when made; a NULL in an array is a free place. */
struct sfl_engine {
  sfl_host host;
  uint8_t* text; /* the model */
  size_t text_size;
  size_t context; /* the longest sequence */
  uint64_t last_handle;
  example_sequence* sequences[EXAMPLE_MAX_SEQUENCES];
  example_bias* biases[EXAMPLE_MAX_BIASES];
  int transcriptions;
};

/* ---- example_model.c ---- */

/* Takes the text of the file, or a text of its own if `path` is empty. */
sfl_status example_load_model(sfl_engine* engine, sfl_string path, sfl_error* error);

/* The logits of what follows a sequence, which has at least one token. */
void example_logits(const sfl_engine* engine, const example_sequence* sequence,
                    float logits[EXAMPLE_VOCAB]);

/* Draws the next token of the sequence as the lane asks; `bias` may be NULL. */
uint32_t example_draw(const sfl_engine* engine, const example_sequence* sequence,
                      const sfl_lane* lane, const example_bias* bias);

/* The `count` most likely tokens, most likely first. */
void example_most_likely(const float logits[EXAMPLE_VOCAB], sfl_token_logit* out, size_t count);

/* A number that depends on both and looks random. */
uint64_t example_mix(uint64_t a, uint64_t b);

/* ---- example_sequences.c ---- */

/* NULL if there is none, or it is in no state to be used. */
example_sequence* example_find(sfl_engine* engine, uint64_t handle);
example_bias* example_find_bias(sfl_engine* engine, uint64_t handle);

/* A new, empty sequence; NULL if there is no room for it. */
example_sequence* example_new_sequence(sfl_engine* engine);
void example_drop_sequence(sfl_engine* engine, example_sequence* sequence);
void example_drop_all(sfl_engine* engine);

/* Makes room for `count` more tokens; false if there is none. */
bool example_reserve(example_sequence* sequence, size_t count);
/* Appends a token; there must be room. */
void example_append(example_sequence* sequence, uint32_t token);
bool example_is_whole(const example_sequence* sequence);
/* The chain at a position: of all tokens before it. */
uint64_t example_chain_at(const example_sequence* sequence, size_t position);
uint64_t example_next_chain(uint64_t chain, uint32_t token);

sfl_status example_create_sequence(sfl_engine*, uint64_t*, sfl_error*);
sfl_status example_free_sequence(sfl_engine*, uint64_t, sfl_error*);
sfl_status example_fork(sfl_engine*, uint64_t, uint32_t, uint64_t*, sfl_error*);
sfl_status example_trim(sfl_engine*, uint64_t, uint32_t, uint64_t, sfl_error*);
sfl_status example_create_logit_bias(sfl_engine*, const uint32_t*, const float*, size_t, uint64_t*,
                                     sfl_error*);
sfl_status example_free_logit_bias(sfl_engine*, uint64_t, sfl_error*);

/* ---- example_ticks.c ---- */

sfl_status example_run_tick(sfl_engine*, const sfl_tick*, sfl_error*);

/* ---- example_state.c ---- */

sfl_status example_state_spaces(sfl_engine*, sfl_list*, sfl_error*);
sfl_status example_snapshot_boundary(sfl_engine*, uint64_t, uint32_t, uint64_t, uint64_t*,
                                     sfl_error*);
sfl_status example_export_size(sfl_engine*, const sfl_state_range*, sfl_export_size*, sfl_error*);
sfl_status example_provenance(sfl_engine*, const sfl_state_range*, sfl_digest*, sfl_error*);
sfl_status example_export_start(sfl_engine*, const sfl_state_export*, void*, size_t,
                                sfl_state_job**, sfl_error*);
sfl_status example_import_start(sfl_engine*, const sfl_state_import*, const void*, size_t,
                                sfl_state_job**, sfl_error*);
sfl_status example_state_step(sfl_engine*, sfl_state_job*, const sfl_state_step*,
                              sfl_state_progress*, sfl_error*);
void example_state_free(sfl_engine*, sfl_state_job*);

/* ---- example_transcription.c ---- */

sfl_status example_transcription_start(sfl_engine*, const sfl_transcription_params*,
                                       const sfl_audio*, sfl_transcription**, sfl_error*);
sfl_status example_transcription_step(sfl_engine*, sfl_transcription*, const sfl_step*, uint32_t*,
                                      sfl_error*);
sfl_status example_transcription_progress(sfl_engine*, sfl_transcription*, sfl_progress*,
                                          sfl_error*);
void example_transcription_free(sfl_engine*, sfl_transcription*);

/* Writes the message and returns the code, so that `return example_fail(...)` reads well. */
static inline sfl_status example_fail(sfl_error* error, sfl_status code, const char* message) {
  sfl_set_error(error, message);
  return code;
}

#endif /* SUPERFLUID_ENGINE_EXAMPLES_EXAMPLE_ENGINE_H_ */
