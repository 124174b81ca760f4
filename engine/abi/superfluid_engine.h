/* The C interface between the worker (the host) and an engine (a plug-in, one shared library).
 *
 * C11, also C++. A plug-in includes this header only (it brings the sfl_*.h beside it), defines
 * `superfluid_engine_entry`, and links to nothing of the host. C++ authors take engine/sdk instead,
 * which wraps all of this. engine/examples/README.md shows how an engine is written.
 *
 * Versions. SFL_ABI_VERSION changes only if something below changes its meaning; host and plug-in
 * must agree on it. Everything else grows at the end of a struct: each struct that may grow begins
 * with `struct_size`, set to sizeof by the side that allocates it. A reader takes no field beyond
 * `struct_size`, and takes an absent field, like a NULL function, as "not supported". Arrays of
 * such structs come with their stride. Padding and `reserved` fields are zero.
 *
 * Threads. The host calls a given engine from one thread only, the one that called `create`. The
 * plug-in calls `log` and `cancelled` from any thread, the other callbacks only on the engine's
 * thread and only during the call that provided them. Threads that a plug-in starts must have ended
 * when `destroy` returns.
 *
 * Time. Only `create` may take long, and what is given an sfl_call, as long as it shows that it
 * gets on; no other call longer than micro_step_us of sfl_engine_info.
 *
 * Memory. Nothing allocated by one side is freed by the other. What the host passes in (structs,
 * arrays, strings, room for answers) is the host's and valid during that call, unless said
 * otherwise; what the plug-in passes to a callback must be valid during the callback, and is
 * copied. An answer is written to room that the host provides, never beyond its capacity. Outputs
 * are read only if the function returns SFL_OK.
 *
 * Strings are UTF-8 with a length; those from the host also have a NUL at data[size]. The host
 * replaces ill-formed UTF-8 (and NULs) in a plug-in's text by U+FFFD.
 *
 * Errors. A function returns SFL_OK or an error code, and with an error may write a message. Any
 * function may return INVALID_ARGUMENT, RESOURCE_EXHAUSTED (no memory, too many of these),
 * UNIMPLEMENTED or INTERNAL, one with an sfl_call also CANCELLED (after `cancelled` said so); other
 * codes are named below. After an error nothing has changed, unless said otherwise.
 *
 * What the host checks. It copies what a plug-in hands over and survives wrong pointers and numbers
 * as far as that can be seen: null pointers with counts, counts over their limits, unknown codes,
 * outputs left unset, handles that are zero or were handed out before, tokens outside the
 * vocabulary, numbers that are none, writes beyond what was given (there are guard bytes behind all
 * of it, and around exports), callbacks at the wrong time or from the wrong thread. Such a call
 * fails with INTERNAL for the host's user, with the rule that was broken. What cannot be seen:
 * pointers that point to nothing, writes far away, writes through a `const` pointer, reads beyond
 * an array, memory used after its time. No C++ exception may leave a plug-in (one that does is
 * caught, where the compilers agree on exceptions); the host's callbacks throw none.
 */
#ifndef SUPERFLUID_ENGINE_ABI_SUPERFLUID_ENGINE_H_
#define SUPERFLUID_ENGINE_ABI_SUPERFLUID_ENGINE_H_

/* The checks of C++ code do not fit a C header. NOLINTBEGIN */

#include "sfl_core.h"
#include "sfl_generation.h"
#include "sfl_model.h"
#include "sfl_state.h"
#include "sfl_transcription.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Constant, and valid as long as the library is loaded (which is for ever). New functions are
 * appended. `create`, `destroy` and `describe` must be there; any other may be NULL, which answers
 * UNIMPLEMENTED. A function that makes something needs the function that frees it. */
typedef struct sfl_engine_vtable {
  uint32_t struct_size;
  uint32_t abi_version; /* SFL_ABI_VERSION */

  /* Loads the model and makes an engine; may take long. On success *engine is not NULL. Several
   * engines may exist, each on its own thread. On failure nothing remains. */
  sfl_status (*create)(const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                       sfl_error* error);

  /* Frees the engine. The host has freed every transcription and state job before. */
  void (*destroy)(sfl_engine* engine);

  /* Fills in `info`, which never changes, and writes a JSON object of what is supported to
   * `capabilities`. */
  sfl_status (*describe)(sfl_engine* engine, sfl_engine_info* info, sfl_output* capabilities,
                         sfl_error* error);

  /* Memory in use. */
  sfl_status (*memory)(sfl_engine* engine, sfl_memory* memory, sfl_error* error);

  /* Drops what outlives a link (caches, adapters). No transcription and no state job exists, and
   * end_session was called before. */
  sfl_status (*reset)(sfl_engine* engine, sfl_error* error);

  /* ---- Transcribing (sfl_transcription.h): all four or none ---- */

  /* Starts a transcription; on success *job is not NULL. Errors: UNIMPLEMENTED (a language or
   * option that the engine lacks), INVALID_ARGUMENT, RESOURCE_EXHAUSTED (too many jobs). */
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

  /* ---- Generating (sfl_generation.h): if sfl_engine_info.generation says so ---- */

  /* What state a sequence has, as sfl_state_space; never changes. Called once, after describe. */
  sfl_status (*state_spaces)(sfl_engine* engine, sfl_list* spaces, sfl_error* error);

  /* The strategies that are always there, as sfl_built_in_strategy; never changes. Called once. */
  sfl_status (*strategies)(sfl_engine* engine, sfl_list* strategies, sfl_error* error);

  /* Runs one tick and fills in a result for every lane. Lanes do not see each other. An error
   * concerns the tick as a whole, and then no sequence has changed. Needs free_sequence. */
  sfl_status (*run_tick)(sfl_engine* engine, const sfl_tick* tick, sfl_error* error);

  /* A new, empty sequence. Needs free_sequence, like `fork`. */
  sfl_status (*create_sequence)(sfl_engine* engine, uint64_t* sequence, sfl_error* error);

  /* Frees the sequence, whose handle then is not passed again, whatever this returns. */
  sfl_status (*free_sequence)(sfl_engine* engine, uint64_t sequence, sfl_error* error);

  /* A new sequence with the parent's tokens and state. Errors: FAILED_PRECONDITION (part of the
   * parent is not on the device), INVALID_ARGUMENT (flags; none are defined). */
  sfl_status (*fork)(sfl_engine* engine, uint64_t parent, uint32_t flags, uint64_t* sequence,
                     sfl_error* error);

  /* Cuts one space of the sequence to its first `new_len` tokens; all spaces must be cut alike
   * before the next tick. Errors: INVALID_ARGUMENT (longer than it is, not at a boundary, no such
   * space). */
  sfl_status (*trim)(sfl_engine* engine, uint64_t sequence, uint32_t space, uint64_t new_len,
                     sfl_error* error);

  /* The sequence that the lane with this tag last worked on. Errors: NOT_FOUND. */
  sfl_status (*lane_sequence)(sfl_engine* engine, uint64_t tag, uint64_t* sequence,
                              sfl_error* error);

  /* ---- State (sfl_state.h) ---- */

  /* The largest position, at most `cap`, at which an export may end. */
  sfl_status (*snapshot_boundary)(sfl_engine* engine, uint64_t sequence, uint32_t space,
                                  uint64_t cap, uint64_t* position, sfl_error* error);

  /* How many bytes an export has. Errors: INVALID_ARGUMENT (an unknown space or encoding, a range
   * beyond the sequence or not at boundaries); FAILED_PRECONDITION (not on the device). */
  sfl_status (*export_size)(sfl_engine* engine, const sfl_state_range* what, sfl_export_size* size,
                            sfl_error* error);

  /* Identifies what the state of the range was computed from: tokens, adapter, media. */
  sfl_status (*provenance)(sfl_engine* engine, const sfl_state_range* what, sfl_digest* provenance,
                           sfl_error* error);

  /* Starts to write state to `out`, which has exactly the bytes of export_size; on success *job is
   * not NULL. `out` stays valid until state_free, and its bytes count once state_step said
   * SFL_STATE_DONE. Another process may see it: write it, never read it back. Both starts need
   * state_step and state_free. The host runs a job beside ticks, but never beside work on the same
   * sequence. */
  sfl_status (*export_start)(sfl_engine* engine, const sfl_state_export* what, void* out,
                             size_t size, sfl_state_job** job, sfl_error* error);

  /* Starts to take state from `bytes`, which stay valid until state_free, and are no promise: any
   * bytes may come. Takes effect as a whole with SFL_STATE_DONE; before, the sequence is as it was.
   */
  sfl_status (*import_start)(sfl_engine* engine, const sfl_state_import* what, const void* bytes,
                             size_t size, sfl_state_job** job, sfl_error* error);

  /* Does one bounded piece of work. Not called again after an error or SFL_STATE_DONE. Errors:
   * CANCELLED (after `cancelled` said so), INVALID_ARGUMENT (bytes that are no state). */
  sfl_status (*state_step)(sfl_engine* engine, sfl_state_job* job, const sfl_state_step* step,
                           sfl_state_progress* progress, sfl_error* error);

  /* Frees a job at any time, done or not; as cheap as a step. */
  void (*state_free)(sfl_engine* engine, sfl_state_job* job);

  /* ---- Cache of prefixes (sfl_state.h) ---- */

  /* The longest cached prefix in each space, as sfl_space_match; spaces without one may be left
   * out. Room for SFL_MAX_STATE_SPACES. */
  sfl_status (*match)(sfl_engine* engine, const sfl_prefix* prefix, sfl_list* matches,
                      sfl_error* error);

  /* Leases a cached prefix. Needs release_seed, like adopt_sequence. Errors: NOT_FOUND (not cached
   * that far, or not computed as the determinism class wants). */
  sfl_status (*acquire_seed)(sfl_engine* engine, const sfl_prefix* prefix, sfl_lease* lease,
                             sfl_error* error);

  /* Errors: NOT_FOUND (expired, adopted or released). */
  sfl_status (*release_seed)(sfl_engine* engine, uint64_t seed, sfl_error* error);

  /* Puts the state of the sequence's first tokens, which must be these, into the cache, in whole
   * blocks. Errors: INVALID_ARGUMENT (other tokens than the sequence's, or not one block),
   * FAILED_PRECONDITION (not on the device, or still to be computed under another adapter than the
   * sequence's). */
  sfl_status (*publish_sequence)(sfl_engine* engine, uint64_t sequence, const uint32_t* tokens,
                                 size_t token_count, const sfl_call* call, sfl_error* error);

  /* The same and a lease on it, so that nothing can evict the prefix in between. */
  sfl_status (*adopt_sequence)(sfl_engine* engine, uint64_t sequence, const uint32_t* tokens,
                               size_t token_count, const sfl_call* call, uint64_t* seed,
                               sfl_error* error);

  /* Forgets the entry for exactly these tokens and all that extend it; leased ones go when their
   * leases end. Errors: NOT_FOUND. */
  sfl_status (*unpublish)(sfl_engine* engine, const uint32_t* tokens, size_t token_count,
                          sfl_error* error);

  /* Frees at least `target` bytes if the policy allows, and says how many. Leased entries stay. */
  sfl_status (*evict_cache)(sfl_engine* engine, uint64_t target, const sfl_evict_policy* policy,
                            uint64_t* freed, sfl_error* error);

  /* Evicts these entries; those that do not exist are ignored. */
  sfl_status (*evict_entries)(sfl_engine* engine, const sfl_cache_key* keys, size_t key_count,
                              sfl_error* error);

  /* ---- What steers sampling ---- */

  /* Needs free_grammar, like create_structural_grammar. Errors: INVALID_ARGUMENT (no JSON schema,
   * or one that the engine cannot follow), UNIMPLEMENTED with the name of a keyword that it does
   * not enforce. After CANCELLED there is no new grammar. */
  sfl_status (*create_grammar)(sfl_engine* engine, sfl_string json_schema, const sfl_call* call,
                               uint64_t* grammar, sfl_error* error);
  sfl_status (*create_structural_grammar)(sfl_engine* engine, sfl_string tag_json,
                                          const sfl_call* call, uint64_t* grammar,
                                          sfl_error* error);
  sfl_status (*free_grammar)(sfl_engine* engine, uint64_t grammar, sfl_error* error);

  /* values[i] is added to the logit of tokens[i]. Needs free_logit_bias. */
  sfl_status (*create_logit_bias)(sfl_engine* engine, const uint32_t* tokens, const float* values,
                                  size_t count, uint64_t* logit_bias, sfl_error* error);
  sfl_status (*free_logit_bias)(sfl_engine* engine, uint64_t logit_bias, sfl_error* error);

  /* ---- The model (sfl_model.h) ---- */

  /* The embedding of the tokens: finite floats, at most SFL_MAX_EMBEDDING. If `values` has too
   * little room the host calls again with what `count` asked for. */
  sfl_status (*embed)(sfl_engine* engine, const uint32_t* tokens, size_t token_count,
                      const sfl_call* call, sfl_list* values, sfl_error* error);

  /* Runs some layers. If `hidden` has too little room (at most SFL_MAX_HIDDEN_BYTES) the host calls
   * again with what `size` asked for, so an engine that knows the size says so before it computes.
   */
  sfl_status (*forward_stage)(sfl_engine* engine, const sfl_stage* stage, const sfl_call* call,
                              sfl_stage_result* result, sfl_output* hidden, sfl_error* error);

  /* Loads an adapter, which replaces the one before, and names it, not 0. Sequences made under
   * another adapter cannot be continued: FAILED_PRECONDITION in their lanes. `path` can be opened
   * during the call; it is not the name that the user gave. The worker passes a sealed copy in
   * memory, so that reading it does not block; it may be large: read it in parts, with a sign of
   * life for each. Errors: NOT_FOUND. */
  sfl_status (*load_adapter)(sfl_engine* engine, sfl_string path, const sfl_call* call,
                             uint64_t* adapter, sfl_error* error);
  sfl_status (*unload_adapter)(sfl_engine* engine, sfl_error* error);
  /* 0: none. */
  sfl_status (*current_adapter)(sfl_engine* engine, uint64_t* adapter, sfl_error* error);

  /* What a medium would become. `path` as in load_adapter. */
  sfl_status (*probe_media)(sfl_engine* engine, sfl_string path, const sfl_call* call,
                            sfl_media_info* info, sfl_error* error);
  /* Encodes a medium. Needs release_media. */
  sfl_status (*encode_media)(sfl_engine* engine, sfl_string path, const sfl_call* call,
                             uint64_t* media, sfl_media_info* info, sfl_error* error);
  sfl_status (*release_media)(sfl_engine* engine, uint64_t media, sfl_error* error);
  /* The next input of the lane with this tag has the medium's tokens from `token_offset` on. */
  sfl_status (*bind_media)(sfl_engine* engine, uint64_t tag, uint64_t media, uint64_t token_offset,
                           sfl_error* error);

  /* Errors: FAILED_PRECONDITION (the engine does not meet what the strategy requires). */
  sfl_status (*register_strategy)(sfl_engine* engine, const sfl_strategy* strategy,
                                  sfl_strategy_terms* terms, sfl_error* error);

  /* The user is gone: all that was made for it goes (sequences, leases, grammars, biases, media,
   * registered strategies), and none of it is freed by name. The published cache and the adapter
   * stay. No state job exists. */
  sfl_status (*end_session)(sfl_engine* engine, sfl_error* error);
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
