/* Of the example engine: state that leaves and comes back. An export is the entries of its range,
 * one after the other. */
#include <stdlib.h>
#include <string.h>

#include "engine/examples/example_engine.h"

/* Entries a step; a step must be short, since ticks wait for it. */
enum { ENTRIES_PER_STEP = 1024 };

/* An export or import under way. It names its sequence by handle and looks it up in each step. */
struct sfl_state_job {
  sfl_state_range what;
  bool is_import;
  bool free_device_copy;   /* of an export */
  bool replace;            /* of an import */
  unsigned char* out;      /* of an export; the host's, and shared: never read back */
  const unsigned char* in; /* of an import; the host's */
  sfl_digest provenance;   /* of an import */
  example_entry* taken;    /* of an import: what will be the sequence's */
  size_t done;             /* entries */
};

static size_t range_length(const sfl_state_range* what) {
  return (size_t)(what->end - what->start);
}

/* The hash of all that a range was computed from: its tokens and those before. */
static sfl_digest provenance_of(uint64_t end_chain, uint64_t start) {
  sfl_digest digest;
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t part = example_mix(example_mix(end_chain, start), i);
    memcpy(digest.bytes + 8 * i, &part, sizeof part);
  }
  return digest;
}

static bool same(const sfl_digest* a, const sfl_digest* b) { return memcmp(a, b, sizeof *a) == 0; }

sfl_status example_state_spaces(sfl_engine* engine, sfl_list* spaces, sfl_error* error) {
  sfl_state_space* const space = SFL_AT(sfl_state_space, spaces, 0);
  uint64_t model = 0;
  (void)error;
  for (size_t i = 0; i < engine->text_size; ++i) model = example_mix(model, engine->text[i]);
  space->id = EXAMPLE_SPACE;
  space->bytes_per_token = sizeof(example_entry);
  space->boundary_tokens = 1;
  space->encodings = 1; /* 0, the raw form */
  space->compat_key = provenance_of(model, sizeof(example_entry));
  memcpy(space->name, "text", sizeof "text");
  spaces->count = 1;
  return SFL_OK;
}

sfl_status example_snapshot_boundary(sfl_engine* engine, uint64_t sequence, uint32_t space,
                                     uint64_t cap, uint64_t* position, sfl_error* error) {
  const example_sequence* const found = example_find(engine, sequence);
  if (found == NULL) return example_fail(error, SFL_NOT_FOUND, "no such sequence");
  if (space != EXAMPLE_SPACE) return example_fail(error, SFL_INVALID_ARGUMENT, "no such space");
  *position = cap < found->length ? cap : found->length;
  return SFL_OK;
}

/* Whether this range can leave. On success *found is its sequence. */
static sfl_status check_export(sfl_engine* engine, const sfl_state_range* what,
                               example_sequence** found, sfl_error* error) {
  *found = example_find(engine, what->sequence);
  if (*found == NULL) return example_fail(error, SFL_NOT_FOUND, "no such sequence");
  if (what->space != EXAMPLE_SPACE || what->encoding != 0 || what->end > (*found)->length ||
      what->start > what->end) {
    return example_fail(error, SFL_INVALID_ARGUMENT, "no such space, encoding or range");
  }
  if (!example_is_whole(*found)) {
    return example_fail(error, SFL_FAILED_PRECONDITION, "part of the sequence was demoted");
  }
  return SFL_OK;
}

sfl_status example_export_size(sfl_engine* engine, const sfl_state_range* what,
                               sfl_export_size* size, sfl_error* error) {
  example_sequence* found = NULL;
  const sfl_status status = check_export(engine, what, &found, error);
  if (status != SFL_OK) return status;
  size->bytes = range_length(what) * sizeof(example_entry);
  size->sizing_gen = found->changes;
  return SFL_OK;
}

sfl_status example_provenance(sfl_engine* engine, const sfl_state_range* what,
                              sfl_digest* provenance, sfl_error* error) {
  example_sequence* found = NULL;
  sfl_state_range range = *what;
  sfl_status status = SFL_OK;
  range.encoding = 0; /* not set here */
  status = check_export(engine, &range, &found, error);
  if (status != SFL_OK) return status;
  *provenance = provenance_of(example_chain_at(found, (size_t)what->end), what->start);
  return SFL_OK;
}

static sfl_status new_job(const sfl_state_range* what, sfl_state_job** job, sfl_error* error) {
  *job = calloc(1, sizeof **job);
  if (*job == NULL) return example_fail(error, SFL_RESOURCE_EXHAUSTED, "out of memory");
  (*job)->what = *what;
  return SFL_OK;
}

sfl_status example_export_start(sfl_engine* engine, const sfl_state_export* what, void* out,
                                size_t size, sfl_state_job** job, sfl_error* error) {
  example_sequence* found = NULL;
  sfl_status status = check_export(engine, &what->what, &found, error);
  if (status != SFL_OK) return status;
  if (size != range_length(&what->what) * sizeof(example_entry)) {
    return example_fail(error, SFL_INVALID_ARGUMENT, "not the size that export_size gave");
  }
  status = new_job(&what->what, job, error);
  if (status != SFL_OK) return status;
  (*job)->out = out;
  (*job)->free_device_copy = (what->flags & SFL_EXPORT_FREE_DEVICE_COPY) != 0;
  return SFL_OK;
}

static bool fits(const example_sequence* sequence, const sfl_state_import* what, size_t size,
                 size_t context) {
  const sfl_state_range* const range = &what->what;
  if (range->space != EXAMPLE_SPACE || range->encoding != 0 || range->start > range->end ||
      range->end > context || size != range_length(range) * sizeof(example_entry)) {
    return false;
  }
  if ((what->flags & SFL_IMPORT_REPLACE) != 0) return range->start == 0;
  return range->start == sequence->missing_start && range->end == sequence->missing_end &&
         same(&what->provenance, &sequence->missing_provenance);
}

sfl_status example_import_start(sfl_engine* engine, const sfl_state_import* what, const void* bytes,
                                size_t size, sfl_state_job** job, sfl_error* error) {
  const example_sequence* const sequence = example_find(engine, what->what.sequence);
  sfl_status status = SFL_OK;
  if (sequence == NULL) return example_fail(error, SFL_NOT_FOUND, "no such sequence");
  if (!fits(sequence, what, size, engine->context)) {
    return example_fail(error, SFL_INVALID_ARGUMENT, "state that does not fit the sequence");
  }
  status = new_job(&what->what, job, error);
  if (status != SFL_OK) return status;
  (*job)->is_import = true;
  (*job)->replace = (what->flags & SFL_IMPORT_REPLACE) != 0;
  (*job)->in = bytes;
  (*job)->provenance = what->provenance;
  (*job)->taken = malloc((size > 0 ? size : 1));
  if ((*job)->taken != NULL) return SFL_OK;
  example_state_free(engine, *job);
  return example_fail(error, SFL_RESOURCE_EXHAUSTED, "out of memory");
}

void example_state_free(sfl_engine* engine, sfl_state_job* job) {
  (void)engine;
  free(job->taken);
  free(job);
}

static void export_some(sfl_state_job* job, const example_sequence* sequence, size_t count) {
  if (count == 0) return;
  memcpy(job->out + job->done * sizeof(example_entry),
         sequence->entries + job->what.start + job->done, count * sizeof(example_entry));
}

/* Whatever bytes come, they must be entries whose chain is right. */
static bool import_some(sfl_state_job* job, const example_sequence* sequence, size_t count) {
  uint64_t chain = job->done > 0 ? job->taken[job->done - 1].chain
                                 : example_chain_at(sequence, (size_t)job->what.start);
  for (size_t i = job->done; i < job->done + count; ++i) {
    example_entry* const entry = &job->taken[i];
    memcpy(entry, job->in + i * sizeof *entry, sizeof *entry);
    if (entry->token >= EXAMPLE_VOCAB || entry->reserved != 0) return false;
    chain = example_next_chain(chain, entry->token);
    if (entry->chain != chain) return false;
  }
  return true;
}

static void finish_export(const sfl_state_job* job, example_sequence* sequence) {
  const size_t start = (size_t)job->what.start;
  const size_t end = (size_t)job->what.end;
  if (!job->free_device_copy || start == end) return;
  sequence->missing_provenance = provenance_of(example_chain_at(sequence, end), start);
  sequence->missing_start = start;
  sequence->missing_end = end;
  memset(sequence->entries + start, 0, (end - start) * sizeof *sequence->entries);
  ++sequence->changes;
}

/* Takes effect as a whole, and only if the bytes are the state of what they are said to be. */
static sfl_status finish_import(sfl_state_job* job, example_sequence* sequence, sfl_error* error) {
  const size_t length = range_length(&job->what);
  const uint64_t chain = length > 0 ? job->taken[length - 1].chain
                                    : example_chain_at(sequence, (size_t)job->what.start);
  const sfl_digest provenance = provenance_of(chain, job->what.start);
  if (!same(&provenance, &job->provenance)) {
    return example_fail(error, SFL_INVALID_ARGUMENT, "state of other tokens than it is said to be");
  }
  if (job->replace) {
    if (length > sequence->length && !example_reserve(sequence, length - sequence->length)) {
      return example_fail(error, SFL_RESOURCE_EXHAUSTED, "out of memory");
    }
    sequence->length = length;
  }
  if (length > 0) {
    memcpy(sequence->entries + job->what.start, job->taken, length * sizeof *job->taken);
  }
  sequence->missing_start = sequence->missing_end = 0;
  ++sequence->changes;
  return SFL_OK;
}

sfl_status example_state_step(sfl_engine* engine, sfl_state_job* job, const sfl_state_step* step,
                              sfl_state_progress* progress, sfl_error* error) {
  example_sequence* const sequence = example_find(engine, job->what.sequence);
  const size_t length = range_length(&job->what);
  size_t count = length - job->done;
  if (sequence == NULL) return example_fail(error, SFL_NOT_FOUND, "the sequence is gone");
  if (step->cancelled(step->user)) return SFL_CANCELLED;
  if (count > ENTRIES_PER_STEP) count = ENTRIES_PER_STEP;
  if (!job->is_import) {
    export_some(job, sequence, count);
  } else if (!import_some(job, sequence, count)) {
    return example_fail(error, SFL_INVALID_ARGUMENT, "these bytes are no state");
  }
  job->done += count;
  progress->bytes_moved = job->done * sizeof(example_entry);
  progress->outcome = job->done < length ? SFL_STATE_MORE : SFL_STATE_DONE;
  if (job->done < length) return SFL_OK;
  if (job->is_import) return finish_import(job, sequence, error);
  finish_export(job, sequence);
  return SFL_OK;
}
