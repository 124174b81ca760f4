/* Of the example engine: ticks. Lanes run one after the other here; an engine with an accelerator
 * would batch them. */
#include "engine/examples/example_engine.h"

/* One lane while it runs. */
typedef struct lane_run {
  sfl_engine* engine;
  const sfl_tick* tick;
  const sfl_lane* lane;
  sfl_lane_result* result;
  example_sequence* sequence;
  size_t index;
} lane_run;

static void fail_lane(lane_run* run, sfl_status code, const char* message) {
  if (run->sequence != NULL) run->result->position = run->sequence->length;
  run->result->status = example_fail(&run->result->error, code, message);
}

/* Asked between two draws, so that a cancel is never later than one draw. */
static bool must_stop(const lane_run* run) {
  return run->tick->cancelled(run->tick->user) != 0 ||
         run->tick->lane_stopped(run->tick->user, run->index) != 0;
}

static bool is_stop_token(const sfl_lane* lane, uint32_t token) {
  for (size_t i = 0; i < lane->stop_token_count; ++i) {
    if (lane->stop_tokens[i] == token) return true;
  }
  return false;
}

/* Whatever can go wrong is found here, before the sequence is touched: a lane that fails leaves its
 * sequence as it was. */
static bool check_lane(lane_run* run) {
  const sfl_lane* const lane = run->lane;
  const size_t room = run->engine->context - run->sequence->length;
  if (lane->kind < SFL_LANE_PREFILL || lane->kind > SFL_LANE_VERIFY) {
    fail_lane(run, SFL_INVALID_ARGUMENT, "no such kind of lane");
  } else if (!example_is_whole(run->sequence)) {
    fail_lane(run, SFL_FAILED_PRECONDITION, "part of the sequence was demoted");
  } else if (lane->grammar != 0 || lane->strategy != 0) {
    fail_lane(run, SFL_UNIMPLEMENTED, "no grammars, no strategies");
  } else if (lane->logit_bias != 0 && example_find_bias(run->engine, lane->logit_bias) == NULL) {
    fail_lane(run, SFL_NOT_FOUND, "no such logit bias");
  } else if (lane->input_count > room) {
    fail_lane(run, SFL_RESOURCE_EXHAUSTED, "the input is longer than the context has room for");
  } else if (lane->kind != SFL_LANE_PREFILL && run->sequence->length + lane->input_count == 0) {
    fail_lane(run, SFL_INVALID_ARGUMENT, "there is nothing to draw from");
  } else if (!example_reserve(run->sequence, lane->input_count + lane->token_capacity)) {
    fail_lane(run, SFL_RESOURCE_EXHAUSTED, "out of memory");
  }
  return run->result->status == SFL_OK;
}

/* Tells the host of a token at once, if it wants that. The result has it again, so that an emit
 * that fails is no loss. */
static void emit(const lane_run* run, uint32_t token) {
  if ((run->tick->flags & SFL_TICK_PARTIAL_EMITS) == 0) return;
  run->tick->emit(run->tick->user, run->index, &token, 1, NULL);
}

/* Draws until there is a reason to stop, which it returns. */
static uint32_t draw_tokens(lane_run* run) {
  const sfl_lane* const lane = run->lane;
  const example_bias* const bias = example_find_bias(run->engine, lane->logit_bias);
  while (run->result->token_count < lane->token_capacity) {
    const size_t drawn = run->result->token_count;
    uint32_t token = 0;
    if (run->sequence->length == run->engine->context) return SFL_FINISH_LENGTH;
    if (must_stop(run)) return SFL_FINISH_STOPPED;
    token = example_draw(run->engine, run->sequence, lane, bias);
    example_append(run->sequence, token);
    lane->tokens[drawn] = token;
    run->result->token_count = drawn + 1;
    emit(run, token);
    if (is_stop_token(lane, token)) return SFL_FINISH_STOP_TOKEN;
    if (lane->kind != SFL_LANE_VERIFY) continue;
    if (drawn >= lane->draft_count || lane->drafts[drawn] != token) break;
  }
  return run->sequence->length == run->engine->context ? SFL_FINISH_LENGTH : SFL_FINISH_NONE;
}

static uint32_t accepted_drafts(const sfl_lane* lane, size_t drawn) {
  uint32_t accepted = 0;
  while (accepted < drawn && accepted < lane->draft_count &&
         lane->tokens[accepted] == lane->drafts[accepted]) {
    ++accepted;
  }
  return accepted;
}

static void report_logits(lane_run* run) {
  float logits[EXAMPLE_VOCAB];
  if (run->lane->logit_capacity == 0 || run->sequence->length == 0) return;
  example_logits(run->engine, run->sequence, logits);
  example_most_likely(logits, run->lane->logits, run->lane->logit_capacity);
  run->result->logit_count = run->lane->logit_capacity;
}

static void run_lane(lane_run* run) {
  const sfl_lane* const lane = run->lane;
  sfl_lane_result* const result = run->result;
  for (size_t i = 0; i < lane->input_count; ++i) example_append(run->sequence, lane->input[i]);
  result->finish = draw_tokens(run);
  if (lane->kind == SFL_LANE_VERIFY) {
    result->accepted_drafts = accepted_drafts(lane, result->token_count);
  }
  report_logits(run);
  result->sequence = run->sequence->handle;
  result->position = run->sequence->length;
}

sfl_status example_run_tick(sfl_engine* engine, const sfl_tick* tick, sfl_error* error) {
  (void)error;
  for (size_t i = 0; i < tick->lane_count; ++i) {
    lane_run run = {engine, tick, sfl_tick_lane(tick, i), sfl_tick_result(tick, i), NULL, i};
    const bool is_new = run.lane->sequence == 0;
    run.sequence = is_new ? example_new_sequence(engine) : example_find(engine, run.lane->sequence);
    if (run.sequence == NULL) {
      fail_lane(&run, is_new ? SFL_RESOURCE_EXHAUSTED : SFL_NOT_FOUND, "no such sequence, or room");
    } else if (check_lane(&run)) {
      run_lane(&run);
    } else if (is_new) {
      example_drop_sequence(engine, run.sequence);
    }
  }
  return SFL_OK;
}
