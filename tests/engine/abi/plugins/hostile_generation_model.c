#include <math.h>
#include <string.h>

#include "tests/engine/abi/plugins/hostile_generation.h"

sfl_status strategies(sfl_engine* engine, sfl_list* list, sfl_error* error) {
  sfl_built_in_strategy* const first = SFL_AT(sfl_built_in_strategy, list, 0);
  sfl_built_in_strategy* const second = SFL_AT(sfl_built_in_strategy, list, 1);
  (void)error;
  first->slot = 1;
  strcpy(first->strategy_id, "one");
  second->slot = 2;
  strcpy(second->strategy_id, "two");
  list->count = 2;
  if (bad(engine, "strategies_too_many")) list->count = SIZE_MAX;
  if (bad(engine, "strategies_zero_slot")) second->slot = 0;
  if (bad(engine, "strategies_same_slot")) second->slot = 1;
  if (bad(engine, "strategies_unnamed")) second->strategy_id[0] = '\0';
  if (bad(engine, "strategies_overrun")) overrun(list->data, list->capacity * list->stride);
  return SFL_OK;
}

sfl_status embed(sfl_engine* engine, const uint32_t* tokens, size_t token_count,
                 const sfl_call* call, sfl_list* values, sfl_error* error) {
  (void)tokens, (void)token_count, (void)call, (void)error;
  if (bad(engine, "embed_cancels")) return SFL_CANCELLED;
  values->count = 3;
  for (size_t i = 0; i < 3; ++i) *SFL_AT(float, values, i) = 1;
  if (bad(engine, "embed_nan")) *SFL_AT(float, values, 1) = NAN;
  if (bad(engine, "embed_infinite")) *SFL_AT(float, values, 1) = INFINITY;
  if (bad(engine, "embed_huge_count")) values->count = SIZE_MAX;
  if (bad(engine, "embed_always_asks_for_more")) values->count = values->capacity + 1;
  if (bad(engine, "embed_overrun")) overrun(values->data, values->capacity * values->stride);
  if (bad(engine, "embed_swapped")) *values = (sfl_list){(void*)(uintptr_t)16, 0, SIZE_MAX, 2};
  return SFL_OK;
}

sfl_status forward_stage(sfl_engine* engine, const sfl_stage* stage, const sfl_call* call,
                         sfl_stage_result* result, sfl_output* hidden, sfl_error* error) {
  (void)stage, (void)call, (void)error;
  if (bad(engine, "stage_unset")) return SFL_OK;
  result->kind = SFL_STAGE_HIDDEN;
  hidden->data[0] = 'h';
  hidden->size = 1;
  if (bad(engine, "stage_kind_99")) result->kind = 99;
  if (bad(engine, "stage_token_outside")) {
    result->kind = SFL_STAGE_TOKEN;
    result->token = VOCAB;
  }
  if (bad(engine, "stage_huge_size")) hidden->size = SIZE_MAX;
  if (bad(engine, "stage_always_asks_for_more")) hidden->size = hidden->capacity + 1;
  if (bad(engine, "stage_overrun")) overrun(hidden->data, hidden->capacity);
  if (bad(engine, "stage_result_overrun")) overrun(result, sizeof *result);
  if (bad(engine, "stage_swapped")) *hidden = (sfl_output){(char*)(uintptr_t)16, SIZE_MAX, 1};
  return SFL_OK;
}

static void fill_media(sfl_engine* engine, sfl_media_info* info) {
  if (bad(engine, "media_unset")) return;
  info->token_count = 4;
  if (bad(engine, "media_token_outside")) info->eoi_token = VOCAB;
  if (bad(engine, "media_overrun")) overrun(info, sizeof *info);
}

sfl_status probe_media(sfl_engine* engine, sfl_string path, const sfl_call* call,
                       sfl_media_info* info, sfl_error* error) {
  (void)path, (void)call, (void)error;
  fill_media(engine, info);
  return SFL_OK;
}

sfl_status encode_media(sfl_engine* engine, sfl_string path, const sfl_call* call, uint64_t* media,
                        sfl_media_info* info, sfl_error* error) {
  (void)path, (void)call, (void)error;
  *media = new_handle(engine, "media");
  fill_media(engine, info);
  return SFL_OK;
}

static void break_strategy(sfl_engine* engine, sfl_strategy_terms* terms) {
  sfl_certificate* const certificate = SFL_AT(sfl_certificate, &terms->certificates, 0);
  if (bad(engine, "strategy_zero")) terms->slot = 0;
  if (bad(engine, "strategy_twice")) terms->slot = 77;
  if (bad(engine, "strategy_slot_of_a_built_in")) terms->slot = 2;
  if (bad(engine, "strategy_huge_certificates")) terms->certificates.count = SIZE_MAX;
  if (bad(engine, "strategy_huge_identities")) terms->identities.count = SIZE_MAX;
  if (bad(engine, "strategy_identities_of_nobody")) certificate->identity_count = 0;
  if (bad(engine, "strategy_identities_missing")) certificate->identity_count = 2;
  if (bad(engine, "strategy_identities_wrap")) certificate->identity_count = UINT32_MAX;
  if (bad(engine, "strategy_huge_spaces")) terms->state_spaces.count = SIZE_MAX;
  if (bad(engine, "strategy_bad_space")) terms->state_spaces.count = 1;
  if (bad(engine, "strategy_overrun")) overrun(terms, sizeof *terms);
  if (bad(engine, "strategy_certificates_overrun")) {
    overrun(terms->certificates.data, terms->certificates.capacity * terms->certificates.stride);
  }
  if (bad(engine, "strategy_swapped")) {
    terms->certificates = (sfl_list){(void*)(uintptr_t)16, 0, SIZE_MAX, 64};
  }
}

sfl_status register_strategy(sfl_engine* engine, const sfl_strategy* strategy,
                             sfl_strategy_terms* terms, sfl_error* error) {
  (void)strategy, (void)error;
  terms->slot = (uint32_t)new_handle(engine, "strategy_slot") + 100;
  terms->certificates.count = 1;
  terms->identities.count = 1;
  SFL_AT(sfl_certificate, &terms->certificates, 0)->identity_count = 1;
  break_strategy(engine, terms);
  return SFL_OK;
}
