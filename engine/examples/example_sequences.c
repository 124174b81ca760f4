/* Of the example engine: sequences and logit biases. The host passes only handles that it got and
 * that were not freed, but a lookup costs little and survives a mistake. */
#include <stdlib.h>
#include <string.h>

#include "engine/examples/example_engine.h"

static sfl_status no_such(sfl_error* error) {
  return example_fail(error, SFL_NOT_FOUND, "no such handle");
}

static sfl_status no_room(sfl_error* error) {
  return example_fail(error, SFL_RESOURCE_EXHAUSTED, "out of memory, or too many of these");
}

/* ---- Sequences ---- */

example_sequence* example_find(sfl_engine* engine, uint64_t handle) {
  for (size_t i = 0; i < EXAMPLE_MAX_SEQUENCES; ++i) {
    example_sequence* const sequence = engine->sequences[i];
    if (sequence != NULL && sequence->handle == handle) return sequence;
  }
  return NULL;
}

example_sequence* example_new_sequence(sfl_engine* engine) {
  for (size_t i = 0; i < EXAMPLE_MAX_SEQUENCES; ++i) {
    if (engine->sequences[i] != NULL) continue;
    engine->sequences[i] = calloc(1, sizeof *engine->sequences[i]);
    /* A handle is never used again, whatever it named. */
    if (engine->sequences[i] != NULL) engine->sequences[i]->handle = ++engine->last_handle;
    return engine->sequences[i];
  }
  return NULL;
}

void example_drop_sequence(sfl_engine* engine, example_sequence* sequence) {
  for (size_t i = 0; i < EXAMPLE_MAX_SEQUENCES; ++i) {
    if (engine->sequences[i] == sequence) engine->sequences[i] = NULL;
  }
  free(sequence->entries);
  free(sequence);
}

void example_drop_all(sfl_engine* engine) {
  for (size_t i = 0; i < EXAMPLE_MAX_SEQUENCES; ++i) {
    if (engine->sequences[i] != NULL) example_drop_sequence(engine, engine->sequences[i]);
  }
  for (size_t i = 0; i < EXAMPLE_MAX_BIASES; ++i) {
    free(engine->biases[i]);
    engine->biases[i] = NULL;
  }
}

bool example_reserve(example_sequence* sequence, size_t count) {
  size_t capacity = sequence->capacity > 0 ? sequence->capacity : 64;
  example_entry* entries = NULL;
  while (capacity < sequence->length + count) capacity *= 2;
  if (capacity == sequence->capacity) return true;
  entries = realloc(sequence->entries, capacity * sizeof *entries);
  if (entries == NULL) return false;
  sequence->entries = entries;
  sequence->capacity = capacity;
  return true;
}

uint64_t example_next_chain(uint64_t chain, uint32_t token) { return example_mix(chain, token); }

uint64_t example_chain_at(const example_sequence* sequence, size_t position) {
  return position == 0 ? 0 : sequence->entries[position - 1].chain;
}

void example_append(example_sequence* sequence, uint32_t token) {
  const uint64_t chain = example_chain_at(sequence, sequence->length);
  sequence->entries[sequence->length] = (example_entry){example_next_chain(chain, token), token, 0};
  ++sequence->length;
  ++sequence->changes;
}

bool example_is_whole(const example_sequence* sequence) {
  return sequence->missing_start == sequence->missing_end;
}

sfl_status example_create_sequence(sfl_engine* engine, uint64_t* sequence, sfl_error* error) {
  const example_sequence* const made = example_new_sequence(engine);
  if (made == NULL) return no_room(error);
  *sequence = made->handle;
  return SFL_OK;
}

sfl_status example_free_sequence(sfl_engine* engine, uint64_t sequence, sfl_error* error) {
  example_sequence* const found = example_find(engine, sequence);
  if (found == NULL) return no_such(error);
  example_drop_sequence(engine, found);
  return SFL_OK;
}

sfl_status example_fork(sfl_engine* engine, uint64_t parent, uint32_t flags, uint64_t* sequence,
                        sfl_error* error) {
  const example_sequence* const from = example_find(engine, parent);
  example_sequence* made = NULL;
  if (from == NULL) return no_such(error);
  if (flags != 0) return example_fail(error, SFL_INVALID_ARGUMENT, "fork knows no flags");
  if (!example_is_whole(from)) {
    return example_fail(error, SFL_FAILED_PRECONDITION, "part of the sequence was demoted");
  }
  made = example_new_sequence(engine);
  if (made == NULL) return no_room(error);
  if (!example_reserve(made, from->length)) {
    example_drop_sequence(engine, made);
    return no_room(error);
  }
  /* Of nothing, there is nothing to copy from. */
  if (from->length > 0) memcpy(made->entries, from->entries, from->length * sizeof *made->entries);
  made->length = from->length;
  *sequence = made->handle;
  return SFL_OK;
}

sfl_status example_trim(sfl_engine* engine, uint64_t sequence, uint32_t space, uint64_t new_len,
                        sfl_error* error) {
  example_sequence* const found = example_find(engine, sequence);
  if (found == NULL) return no_such(error);
  if (space != EXAMPLE_SPACE || new_len > found->length) {
    return example_fail(error, SFL_INVALID_ARGUMENT, "no such space, or the sequence is shorter");
  }
  if (!example_is_whole(found)) {
    return example_fail(error, SFL_FAILED_PRECONDITION, "part of the sequence was demoted");
  }
  found->length = (size_t)new_len;
  ++found->changes;
  return SFL_OK;
}

/* ---- Logit biases ---- */

example_bias* example_find_bias(sfl_engine* engine, uint64_t handle) {
  for (size_t i = 0; i < EXAMPLE_MAX_BIASES; ++i) {
    example_bias* const bias = engine->biases[i];
    if (bias != NULL && bias->handle == handle) return bias;
  }
  return NULL;
}

sfl_status example_create_logit_bias(sfl_engine* engine, const uint32_t* tokens,
                                     const float* values, size_t count, uint64_t* logit_bias,
                                     sfl_error* error) {
  for (size_t i = 0; i < EXAMPLE_MAX_BIASES; ++i) {
    example_bias* made = NULL;
    if (engine->biases[i] != NULL) continue;
    made = calloc(1, sizeof *made);
    if (made == NULL) return no_room(error);
    for (size_t k = 0; k < count; ++k) made->values[tokens[k]] += values[k];
    made->handle = ++engine->last_handle;
    engine->biases[i] = made;
    *logit_bias = made->handle;
    return SFL_OK;
  }
  return no_room(error);
}

sfl_status example_free_logit_bias(sfl_engine* engine, uint64_t logit_bias, sfl_error* error) {
  for (size_t i = 0; i < EXAMPLE_MAX_BIASES; ++i) {
    if (engine->biases[i] == NULL || engine->biases[i]->handle != logit_bias) continue;
    free(engine->biases[i]);
    engine->biases[i] = NULL;
    return SFL_OK;
  }
  return no_such(error);
}
