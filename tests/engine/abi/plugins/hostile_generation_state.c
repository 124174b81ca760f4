#include <stdlib.h>
#include <string.h>

#include "tests/engine/abi/plugins/hostile_generation.h"

static void fill_space(sfl_list* spaces, size_t i, uint32_t id) {
  sfl_state_space* const space = SFL_AT(sfl_state_space, spaces, i);
  space->id = id;
  space->boundary_tokens = 1;
  space->encodings = 1;
  strcpy(space->name, "state");
  spaces->count = i + 1;
}

sfl_status state_spaces(sfl_engine* engine, sfl_list* spaces, sfl_error* error) {
  sfl_state_space* const first = SFL_AT(sfl_state_space, spaces, 0);
  (void)error;
  fill_space(spaces, 0, 0);
  if (bad(engine, "spaces_one_too_many")) spaces->count = spaces->capacity + 1;
  if (bad(engine, "spaces_huge_count")) spaces->count = SIZE_MAX;
  if (bad(engine, "spaces_overrun")) overrun(spaces->data, spaces->capacity * spaces->stride);
  if (bad(engine, "spaces_same_id")) fill_space(spaces, 1, 0);
  if (bad(engine, "spaces_without_raw_form")) first->encodings = 2;
  if (bad(engine, "spaces_without_boundary")) first->boundary_tokens = 0;
  if (bad(engine, "spaces_unterminated_name")) memset(first->name, 'n', sizeof first->name);
  /* The host reads its own memory, whatever the list says: the second space is zeros. */
  if (bad(engine, "spaces_swapped")) *spaces = (sfl_list){(void*)(uintptr_t)16, 0, SIZE_MAX, 2};
  return bad(engine, "spaces_fail") ? SFL_UNAVAILABLE : SFL_OK;
}

sfl_status snapshot_boundary(sfl_engine* engine, uint64_t sequence, uint32_t space, uint64_t cap,
                             uint64_t* position, sfl_error* error) {
  (void)sequence, (void)space, (void)error;
  if (bad(engine, "boundary_unset")) return SFL_OK;
  *position = bad(engine, "boundary_beyond_the_cap") ? cap + 1 : cap;
  if (bad(engine, "boundary_overrun")) overrun(position, sizeof *position);
  return SFL_OK;
}

sfl_status export_size(sfl_engine* engine, const sfl_state_range* what, sfl_export_size* size,
                       sfl_error* error) {
  (void)what, (void)error;
  if (!bad(engine, "size_unset")) size->bytes = 100;
  if (bad(engine, "size_overrun")) overrun(size, sizeof *size);
  return SFL_OK;
}

sfl_status provenance(sfl_engine* engine, const sfl_state_range* what, sfl_digest* digest,
                      sfl_error* error) {
  (void)what, (void)error;
  if (!bad(engine, "provenance_unset")) memset(digest, 0, sizeof *digest);
  if (bad(engine, "provenance_overrun")) overrun(digest, sizeof *digest);
  return SFL_OK;
}

static sfl_status new_job(sfl_engine* engine, void* out, size_t size, sfl_state_job** job) {
  if (bad(engine, "state_no_job")) return SFL_OK;
  *job = calloc(1, sizeof **job);
  if (*job == NULL) return SFL_RESOURCE_EXHAUSTED;
  (*job)->out = out;
  (*job)->size = size;
  return SFL_OK;
}

sfl_status export_start(sfl_engine* engine, const sfl_state_export* what, void* out, size_t size,
                        sfl_state_job** job, sfl_error* error) {
  (void)what, (void)error;
  if (bad(engine, "export_overrun_at_once")) overrun(out, size);
  return new_job(engine, out, size, job);
}

sfl_status import_start(sfl_engine* engine, const sfl_state_import* what, const void* bytes,
                        size_t size, sfl_state_job** job, sfl_error* error) {
  (void)what, (void)bytes, (void)error;
  return new_job(engine, NULL, size, job);
}

static void break_step(sfl_engine* engine, sfl_state_job* job, sfl_state_progress* progress) {
  if (bad(engine, "state_outcome_99")) progress->outcome = 99;
  if (bad(engine, "state_outcome_unset")) progress->outcome = SFL_STATE_UNSET;
  if (bad(engine, "state_claims_more_bytes")) progress->bytes_moved = job->size + 1;
  if (bad(engine, "state_claims_huge_bytes")) progress->bytes_moved = UINT64_MAX;
  if (bad(engine, "state_moves_back") && job->steps == 2) progress->bytes_moved = 0;
  if (bad(engine, "state_progress_overrun")) overrun(progress, sizeof *progress);
  if (job->out == NULL) return;
  if (bad(engine, "export_overrun")) overrun(job->out, job->size);
  if (bad(engine, "export_overrun_by_a_page")) memset((char*)job->out + job->size + 4000, 'o', 64);
  if (bad(engine, "export_underrun")) memset((char*)job->out - 8, 'o', 8);
}

sfl_status state_step(sfl_engine* engine, sfl_state_job* job, const sfl_state_step* step,
                      sfl_state_progress* progress, sfl_error* error) {
  (void)error;
  engine->late_step = *step;
  if (++job->steps == 1) {
    progress->outcome = SFL_STATE_MORE;
    progress->bytes_moved = job->size / 2;
  } else {
    if (job->out != NULL) memset(job->out, 'e', job->size);
    progress->outcome = SFL_STATE_DONE;
    progress->bytes_moved = job->size;
  }
  break_step(engine, job, progress);
  if (bad(engine, "state_code_77")) return 77;
  if (bad(engine, "state_cancels_unasked")) return SFL_CANCELLED;
  return SFL_OK;
}

void state_free(sfl_engine* engine, sfl_state_job* job) {
  (void)engine;
  free(job);
}

sfl_status match(sfl_engine* engine, const sfl_prefix* prefix, sfl_list* matches,
                 sfl_error* error) {
  (void)error;
  for (uint32_t i = 0; i < 2; ++i) {
    *SFL_AT(sfl_space_match, matches, i) = (sfl_space_match){i, 0, prefix->token_count};
  }
  matches->count = 2;
  if (bad(engine, "match_one_too_many")) matches->count = matches->capacity + 1;
  if (bad(engine, "match_huge_count")) matches->count = SIZE_MAX;
  if (bad(engine, "match_more_than_asked")) {
    SFL_AT(sfl_space_match, matches, 0)->matched_tokens = prefix->token_count + 1;
  }
  if (bad(engine, "match_same_space")) SFL_AT(sfl_space_match, matches, 1)->space = 0;
  if (bad(engine, "match_overrun")) overrun(matches->data, matches->capacity * matches->stride);
  if (bad(engine, "match_swapped")) *matches = (sfl_list){(void*)(uintptr_t)16, 0, SIZE_MAX, 64};
  return SFL_OK;
}

sfl_status acquire_seed(sfl_engine* engine, const sfl_prefix* prefix, sfl_lease* lease,
                        sfl_error* error) {
  (void)prefix, (void)error;
  lease->seed = new_handle(engine, "seed");
  if (bad(engine, "seed_overrun")) overrun(lease, sizeof *lease);
  return SFL_OK;
}

sfl_status evict_cache(sfl_engine* engine, uint64_t target, const sfl_evict_policy* policy,
                       uint64_t* freed, sfl_error* error) {
  (void)policy, (void)error;
  if (!bad(engine, "evict_unset")) *freed = target;
  return SFL_OK;
}
