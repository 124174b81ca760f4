#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/abi/plugins/hostile_generation.h"

/* Draws token 1, 2, 3, ... by the rules. */
static void answer_lane(sfl_engine* engine, const sfl_tick* tick, size_t index) {
  const sfl_lane* const lane = sfl_tick_lane(tick, index);
  sfl_lane_result* const result = sfl_tick_result(tick, index);
  for (size_t i = 0; i < lane->token_capacity; ++i) lane->tokens[i] = (uint32_t)(i + 1);
  for (size_t i = 0; i < lane->logit_capacity; ++i) {
    lane->logits[i] = (sfl_token_logit){(uint32_t)i, -(float)i};
  }
  result->finish = SFL_FINISH_NONE;
  result->sequence = lane->sequence != 0 ? lane->sequence : new_handle(engine, "tick_sequence");
  result->token_count = lane->token_capacity;
  result->logit_count = lane->logit_capacity;
  result->position = (lane->sequence != 0 ? 1000 : 0) + lane->input_count + lane->token_capacity;
}

static void break_memory(sfl_engine* engine, const sfl_tick* tick) {
  const sfl_lane* const lane = tick->lanes;
  sfl_lane_result* const result = tick->results;
  if (bad(engine, "tick_tokens_overrun")) overrun(lane->tokens, lane->token_capacity * 4);
  if (bad(engine, "tick_logits_overrun")) overrun(lane->logits, lane->logit_capacity * 8);
  if (bad(engine, "tick_results_overrun")) overrun(result, tick->lane_count * tick->result_stride);
  if (bad(engine, "tick_message_overrun")) {
    overrun(result->error.message, result->error.capacity);
  }
  if (bad(engine, "tick_swaps_pointers")) {
    result->struct_size = 0;
    result->error = (sfl_error){(char*)(uintptr_t)16, SIZE_MAX};
    result->status = SFL_INVALID_ARGUMENT;
  }
  /* What the host passed is the host's; a plug-in that writes there anyway harms itself only. */
  if (bad(engine, "tick_clobbers")) {
    memset((void*)(uintptr_t)tick->results, 0xAB, tick->lane_count * tick->result_stride);
    memset((void*)(uintptr_t)tick->lanes, 0xAB, tick->lane_count * tick->lane_stride);
    memset((void*)(uintptr_t)tick, 0xAB, sizeof *tick);
  }
}

static void break_counts(sfl_engine* engine, const sfl_lane* lane, sfl_lane_result* result) {
  if (bad(engine, "tick_result_unset")) result->finish = SFL_FINISH_UNSET;
  if (bad(engine, "tick_one_token_too_many")) result->token_count = lane->token_capacity + 1;
  if (bad(engine, "tick_huge_token_count")) result->token_count = SIZE_MAX;
  if (bad(engine, "tick_one_logit_too_many")) result->logit_count = lane->logit_capacity + 1;
  if (bad(engine, "tick_huge_logit_count")) result->logit_count = SIZE_MAX;
  if (bad(engine, "tick_finish_99")) result->finish = 99;
  if (bad(engine, "tick_finish_error_but_ok")) result->finish = 4;
  if (bad(engine, "tick_stops_unasked")) result->finish = SFL_FINISH_STOPPED;
  if (bad(engine, "tick_stop_token_without_token")) {
    result->finish = SFL_FINISH_STOP_TOKEN;
    result->token_count = 0;
  }
  if (bad(engine, "tick_accepts_too_many_drafts")) result->accepted_drafts = 5;
  if (bad(engine, "tick_position_too_low")) result->position = 1;
  if (bad(engine, "tick_position_too_high")) result->position = UINT64_MAX;
  if (bad(engine, "tick_sequence_of_another")) result->sequence = 123456;
  if (bad(engine, "tick_lane_code_77")) result->status = 77;
  if (bad(engine, "tick_lane_code_negative")) result->status = -1;
}

static void break_values(sfl_engine* engine, const sfl_lane* lane) {
  if (bad(engine, "tick_token_outside")) lane->tokens[1] = VOCAB;
  if (lane->logit_capacity == 0) return;
  if (bad(engine, "tick_logit_nan")) lane->logits[3].logit = NAN;
  if (bad(engine, "tick_logit_outside")) lane->logits[3].token = UINT32_MAX;
  if (bad(engine, "tick_logits_unsorted")) lane->logits[3].logit = 7;
}

/* Emits that the host must refuse, each in its own way, and one that it must take. */
static void emit_badly(sfl_engine* engine, const sfl_tick* tick) {
  const uint32_t tokens[3] = {1, 2, VOCAB};
  note(engine, tick->emit(tick->user, 0, NULL, 1, NULL));
  note(engine, tick->emit(tick->user, 0, NULL, SIZE_MAX, NULL));
  note(engine, tick->emit(tick->user, 0, NULL, 0, NULL));
  note(engine, tick->emit(NULL, 0, tokens, 1, NULL));
  note(engine, tick->emit((void*)(uintptr_t)0xDEADBEEF, 0, tokens, 1, NULL));
  note(engine, tick->emit(tick->user, tick->lane_count, tokens, 1, NULL));
  note(engine, tick->emit(tick->user, SIZE_MAX, tokens, 1, NULL));
  note(engine, tick->emit(tick->user, 0, tokens, SIZE_MAX, NULL));
  note(engine, tick->emit(tick->user, 0, tokens, 5, NULL));
  note(engine, tick->emit(tick->user, 0, tokens, 3, NULL));
  note(engine, tick->emit(tick->user, 0, tokens, 2, NULL));
  note(engine, tick->lane_stopped(NULL, 0));
  note(engine, tick->lane_stopped(tick->user, SIZE_MAX));
  note(engine, tick->cancelled(NULL));
  tell(engine);
}

struct visit {
  sfl_engine* engine;
  const sfl_tick* tick;
};

static void* call_from_elsewhere(void* raw) {
  const struct visit* const visit = raw;
  const sfl_tick* const tick = visit->tick;
  const uint32_t token = 1;
  note(visit->engine, tick->emit(tick->user, 0, &token, 1, NULL));
  note(visit->engine, tick->lane_stopped(tick->user, 0));
  note(visit->engine, tick->cancelled(tick->user));
  return NULL;
}

static void visit_from_elsewhere(sfl_engine* engine, const sfl_tick* tick) {
  struct visit visit = {engine, tick};
  pthread_t thread;
  if (pthread_create(&thread, NULL, call_from_elsewhere, &visit) != 0) abort();
  pthread_join(thread, NULL);
  tell(engine);
}

static void use_callbacks(sfl_engine* engine, const sfl_tick* tick) {
  const uint32_t tokens[4] = {1, 9, 3, 4};
  if (bad(engine, "bad_emits")) emit_badly(engine, tick);
  if (bad(engine, "foreign_thread")) visit_from_elsewhere(engine, tick);
  if (bad(engine, "tick_emits_other_tokens")) tick->emit(tick->user, 0, tokens, 2, NULL);
  if (bad(engine, "tick_emits_more_than_it_drew")) {
    tick->emit(tick->user, 0, tokens, 1, NULL);
    tick->results->token_count = 0;
    tick->results->position = 1000;
  }
  if (bad(engine, "emit_unwanted")) {
    note(engine, tick->emit(tick->user, 0, tokens, 1, NULL));
    tell(engine);
  }
}

sfl_status run_tick(sfl_engine* engine, const sfl_tick* tick, sfl_error* error) {
  (void)error;
  ++engine->ticks;
  engine->late_tick = *tick;
  if (bad(engine, "tick_sets_nothing")) return SFL_OK;
  for (size_t i = 0; i < tick->lane_count; ++i) answer_lane(engine, tick, i);
  use_callbacks(engine, tick);
  break_counts(engine, tick->lanes, tick->results);
  break_values(engine, tick->lanes);
  break_memory(engine, tick);
  if (bad(engine, "tick_code_77")) return 77;
  if (bad(engine, "tick_cancels_unasked")) return SFL_CANCELLED;
  return SFL_OK;
}
