/* Of the example engine: the model, and drawing from it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/examples/example_engine.h"

/* How far back the model looks, and how much more a longer match counts than one shorter by a byte.
 */
enum { LONGEST_MATCH = 8 };
static const float WEIGHT_STEP = 6.0F;
/* For what never follows: unlikely, but not impossible. */
static const float FLOOR = 0.001F;

static const char built_in_text[] =
    "The worker asks, and the engine answers. The engine does a little work, and then a little "
    "more. When the worker says stop, the engine stops. When the worker asks for the state, the "
    "engine writes it down; when the state comes back, the engine goes on where it was. Nothing "
    "is lost, nothing is done twice, and nobody waits for long. ";

uint64_t example_mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + b + 0xD1B54A32D192ED03u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static sfl_status read_file(sfl_engine* engine, const char* path, sfl_error* error) {
  FILE* const file = fopen(path, "rb");
  if (file == NULL) return example_fail(error, SFL_NOT_FOUND, "cannot open the model's file");
  engine->text_size = fread(engine->text, 1, EXAMPLE_MAX_MODEL_BYTES, file);
  fclose(file);
  if (engine->text_size > 0) return SFL_OK;
  return example_fail(error, SFL_INVALID_ARGUMENT, "the model's file is empty");
}

sfl_status example_load_model(sfl_engine* engine, sfl_string path, sfl_error* error) {
  engine->text = malloc(EXAMPLE_MAX_MODEL_BYTES);
  if (engine->text == NULL) return example_fail(error, SFL_RESOURCE_EXHAUSTED, "out of memory");
  if (path.size > 0) return read_file(engine, path.data, error);
  engine->text_size = sizeof built_in_text - 1;
  memcpy(engine->text, built_in_text, engine->text_size);
  return SFL_OK;
}

/* How many bytes before text[at] are those that the sequence ends with. */
static size_t match_length(const sfl_engine* engine, const example_sequence* sequence, size_t at) {
  size_t length = 0;
  while (length < LONGEST_MATCH && length < at && length < sequence->length &&
         engine->text[at - 1 - length] == sequence->entries[sequence->length - 1 - length].token) {
    ++length;
  }
  return length;
}

void example_logits(const sfl_engine* engine, const example_sequence* sequence,
                    float logits[EXAMPLE_VOCAB]) {
  for (size_t token = 0; token < EXAMPLE_VOCAB; ++token) logits[token] = FLOOR;
  for (size_t at = 0; at < engine->text_size; ++at) {
    const size_t length = match_length(engine, sequence, at);
    if (length > 0) logits[engine->text[at]] += powf(WEIGHT_STEP, (float)length);
  }
  /* The text's end is what follows its last byte. */
  logits[EXAMPLE_END] +=
      0.01F * powf(WEIGHT_STEP, (float)match_length(engine, sequence, engine->text_size));
  for (size_t token = 0; token < EXAMPLE_VOCAB; ++token) logits[token] = logf(logits[token]);
}

static int by_logit(const void* raw_a, const void* raw_b) {
  const sfl_token_logit* const a = raw_a;
  const sfl_token_logit* const b = raw_b;
  if (a->logit != b->logit) return a->logit > b->logit ? -1 : 1;
  return a->token < b->token ? -1 : 1;
}

static void sort_logits(const float logits[EXAMPLE_VOCAB], sfl_token_logit sorted[EXAMPLE_VOCAB]) {
  for (uint32_t token = 0; token < EXAMPLE_VOCAB; ++token) {
    sorted[token] = (sfl_token_logit){token, logits[token]};
  }
  qsort(sorted, EXAMPLE_VOCAB, sizeof *sorted, by_logit);
}

void example_most_likely(const float logits[EXAMPLE_VOCAB], sfl_token_logit* out, size_t count) {
  sfl_token_logit sorted[EXAMPLE_VOCAB];
  sort_logits(logits, sorted);
  memcpy(out, sorted, count * sizeof *out);
}

static void penalize_repetition(const example_sequence* sequence, float penalty,
                                float logits[EXAMPLE_VOCAB]) {
  bool seen[EXAMPLE_VOCAB] = {false};
  for (size_t i = 0; i < sequence->length; ++i) {
    const uint32_t token = sequence->entries[i].token;
    if (seen[token]) continue;
    seen[token] = true;
    logits[token] = logits[token] > 0 ? logits[token] / penalty : logits[token] * penalty;
  }
}

/* Turns sorted logits into probabilities; returns how many of them the lane keeps. */
static size_t keep(const sfl_lane* lane, const sfl_token_logit sorted[EXAMPLE_VOCAB],
                   double probabilities[EXAMPLE_VOCAB]) {
  size_t kept = lane->top_k > 0 && lane->top_k < EXAMPLE_VOCAB ? lane->top_k : EXAMPLE_VOCAB;
  double sum = 0;
  double mass = 0;
  for (size_t i = 0; i < kept; ++i) {
    probabilities[i] = exp((double)(sorted[i].logit - sorted[0].logit) / (double)lane->temperature);
    sum += probabilities[i];
  }
  for (size_t i = 0; i < kept; ++i) {
    probabilities[i] /= sum;
    if (i > 0 && lane->min_p > 0 && probabilities[i] < (double)lane->min_p * probabilities[0]) {
      return i;
    }
    mass += probabilities[i];
    if (lane->top_p > 0 && mass >= (double)lane->top_p) return i + 1;
  }
  return kept;
}

/* The draw at a position depends on the seed and the position alone: a decode that is split into
 * ticks, forked or restored draws the same. */
static double random_at(uint64_t seed, uint64_t position) {
  return (double)(example_mix(seed, position) >> 11) / 9007199254740992.0; /* in [0, 1) */
}

static uint32_t pick(const sfl_token_logit* sorted, const double* probabilities, size_t count,
                     double random) {
  double mass = 0;
  for (size_t i = 0; i < count; ++i) mass += probabilities[i];
  random *= mass;
  for (size_t i = 0; i + 1 < count; ++i) {
    if (random < probabilities[i]) return sorted[i].token;
    random -= probabilities[i];
  }
  return sorted[count - 1].token;
}

uint32_t example_draw(const sfl_engine* engine, const example_sequence* sequence,
                      const sfl_lane* lane, const example_bias* bias) {
  float logits[EXAMPLE_VOCAB];
  sfl_token_logit sorted[EXAMPLE_VOCAB];
  double probabilities[EXAMPLE_VOCAB];
  size_t kept = 0;
  example_logits(engine, sequence, logits);
  if (bias != NULL) {
    for (size_t token = 0; token < EXAMPLE_VOCAB; ++token) logits[token] += bias->values[token];
  }
  if (lane->repetition_penalty > 0) {
    penalize_repetition(sequence, lane->repetition_penalty, logits);
  }
  sort_logits(logits, sorted);
  if (!(lane->temperature > 0)) return sorted[0].token;
  kept = keep(lane, sorted, probabilities);
  return pick(sorted, probabilities, kept, random_at(lane->sampling_seed, sequence->length));
}
