/* Of the C interface between worker and engine: generating tokens, tick by tick. See
 * superfluid_engine.h.
 *
 * Names are numbers that the plug-in chooses: a sequence, a lease, a grammar, a logit bias and an
 * encoded medium each have a handle (uint64_t), a strategy a slot (uint32_t). 0 is none of them. A
 * handle is never used again while the engine lives. The host passes only handles that the plug-in
 * handed out and that were not freed since (but a lease may have expired), and only tokens below
 * vocab_size. */
#ifndef SUPERFLUID_ENGINE_ABI_SFL_GENERATION_H_
#define SUPERFLUID_ENGINE_ABI_SFL_GENERATION_H_

/* The checks of C++ code do not fit a C header. NOLINTBEGIN */

#include "sfl_core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SFL_MAX_LANE_TOKENS 1024 /* drawn by one lane in one tick */
#define SFL_MAX_LANE_LOGITS 32   /* reported by one lane          */

/* A token and its logit: fixed, like all structs without a struct_size. */
typedef struct sfl_token_logit {
  uint32_t token;
  float logit;
} sfl_token_logit;

enum {
  /* Appends `input`; draws nothing, max_tokens is 0. */
  SFL_LANE_PREFILL = 1,
  /* Appends `input` (may be empty), then draws up to max_tokens tokens, each of which becomes part
   * of the sequence at once. At least one token must precede a draw. */
  SFL_LANE_DECODE = 2,
  /* Appends `input` (may be empty), then draws a token, and as long as what it drew is the next of
   * `drafts`, one more: between 1 and draft_count + 1 tokens, at most max_tokens. What comes out is
   * a prefix of what SFL_LANE_DECODE would have drawn, whatever the drafts are. */
  SFL_LANE_VERIFY = 3
};

enum { SFL_LANE_WANT_LOGITS = 1u };

/* What one lane of a tick asks for, and where its tokens go. Valid during run_tick.
 *
 * Sampling: for every number 0 means "off". The random stream is defined: the draw at position p
 * (how many tokens of the sequence precede the drawn one) depends on sampling_seed and p alone. So
 * a decode that is split into ticks, repeated, forked or restored gives the same tokens. */
typedef struct sfl_lane {
  uint32_t struct_size;
  uint32_t kind;     /* an SFL_LANE_ value */
  uint64_t tag;      /* names the lane across ticks; 0 is a valid one */
  uint64_t sequence; /* 0: a new one, to be named in the result */
  const uint32_t* input;
  size_t input_count;
  const uint32_t* drafts;
  size_t draft_count;
  const uint32_t* stop_tokens; /* drawing ends after one of these */
  size_t stop_token_count;
  uint32_t max_tokens; /* at most SFL_MAX_LANE_TOKENS */
  uint32_t flags;      /* SFL_LANE_WANT_LOGITS */
  uint64_t grammar;    /* 0: none. It constrains the text since the last input of the sequence */
  uint64_t logit_bias; /* 0: none */
  uint32_t strategy;   /* of decode: may draw faster, never otherwise; 0: none */
  uint32_t top_k;      /* keep the k most likely tokens */
  float temperature;   /* 0: the most likely token, the lowest among equals */
  float top_p;         /* keep the smallest set whose probability reaches this */
  float min_p;         /* keep tokens at least this likely relative to the most likely one */
  float repetition_penalty; /* over the tokens of the sequence; 1 has no effect */
  uint64_t sampling_seed;
  /* Room for the drawn tokens: max_tokens, or less if the lane cannot draw so many. */
  uint32_t* tokens;
  size_t token_capacity;
  /* Room for the most likely tokens at the last position, most likely first, as they were before
   * sampling: SFL_MAX_LANE_LOGITS, or 0 if the lane does not want them. */
  sfl_token_logit* logits;
  size_t logit_capacity;
} sfl_lane;

enum {
  SFL_FINISH_NONE = 0,       /* all of max_tokens were drawn; another tick may go on */
  SFL_FINISH_STOP_TOKEN = 1, /* the last token is a stop token (and is part of the sequence) */
  SFL_FINISH_LENGTH = 2,     /* the sequence is as long as the model's context */
  /* lane_stopped or cancelled said so. Not all of the input may have been appended; a new sequence
   * may not have been made (0, at position 0). */
  SFL_FINISH_STOPPED = 3
};
#define SFL_FINISH_UNSET 0xFFFFFFFFu /* what the host sets; leaving it is a mistake */

/* How one lane ended. The host zeroes it, sets struct_size, finish and error. */
typedef struct sfl_lane_result {
  uint32_t struct_size;
  /* What went wrong with this lane alone, with a message in `error`; its sequence is then as it was
   * before the tick, no token counts, and of the fields below only `position` is read.
   * INVALID_ARGUMENT (a draw from nothing), FAILED_PRECONDITION (state that is not on the device,
   * spaces that disagree), RESOURCE_EXHAUSTED. */
  sfl_status status;
  uint32_t finish;
  uint32_t accepted_drafts; /* of `drafts`, or of the strategy's own; at most token_count */
  uint64_t sequence;        /* the lane's; of a new one its handle */
  uint64_t position;        /* tokens in the sequence now */
  size_t token_count;       /* written to sfl_lane.tokens */
  size_t logit_count;       /* written to sfl_lane.logits */
  sfl_error error;
} sfl_lane_result;

enum { SFL_TICK_PARTIAL_EMITS = 1u };

/* One tick: 1 to max_lanes lanes; no tag and no sequence (other than 0) occurs twice. Valid during
 * run_tick; so are the callbacks. Lane i is at sfl_tick_lane(tick, i), its result at
 * sfl_tick_result(tick, i): the host's structs may be longer than the plug-in knows them. */
typedef struct sfl_tick {
  uint32_t struct_size;
  uint32_t flags; /* SFL_TICK_PARTIAL_EMITS */
  uint64_t tick_id;
  const sfl_lane* lanes;
  sfl_lane_result* results;
  size_t lane_count;
  size_t lane_stride;
  size_t result_stride;
  void* user;
  /* Non-zero: end every lane with SFL_FINISH_STOPPED as soon as possible, and return SFL_OK. Any
   * thread; non-zero also once the tick is over. */
  uint32_t (*cancelled)(void* user);
  /* Non-zero: the lane with this index is to stop drawing now, with SFL_FINISH_STOPPED. Ask between
   * two draws. Non-zero also at a wrong time, from a wrong thread, or for a lane that is none. */
  uint32_t (*lane_stopped)(void* user, size_t lane);
  /* With SFL_TICK_PARTIAL_EMITS: tokens just drawn by a lane, in order; copied. They come again in
   * the result, which must begin with all that was emitted unless the lane fails. Errors, each
   * without effect: INVALID_ARGUMENT (NULL with a count, no such lane, more than the lane may draw,
   * a token outside the vocabulary), FAILED_PRECONDITION (no partial emits, wrong time or thread),
   * INTERNAL (the host failed; so will the tick). */
  sfl_status (*emit)(void* user, size_t lane, const uint32_t* tokens, size_t count,
                     sfl_error* error);
} sfl_tick;

static inline const sfl_lane* sfl_tick_lane(const sfl_tick* tick, size_t i) {
  return (const sfl_lane*)sfl_offset(tick->lanes, tick->lane_stride, i);
}

static inline sfl_lane_result* sfl_tick_result(const sfl_tick* tick, size_t i) {
  return (sfl_lane_result*)sfl_offset(tick->results, tick->result_stride, i);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

/* NOLINTEND */

#endif /* SUPERFLUID_ENGINE_ABI_SFL_GENERATION_H_ */
