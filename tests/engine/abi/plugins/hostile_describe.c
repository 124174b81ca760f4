#include <limits.h>
#include <string.h>

#include "tests/engine/abi/plugins/hostile.h"

static void answer(sfl_output* output, const char* text) {
  output->size = strlen(text);
  if (output->size <= output->capacity) memcpy(output->data, text, output->size);
}

static void break_info(const sfl_engine* engine, sfl_engine_info* info) {
  if (hostile_is(engine, "name_empty")) info->name[0] = '\0';
  if (hostile_is(engine, "name_odd")) strcpy(info->name, "../x");
  if (hostile_is(engine, "name_unterminated")) memset(info->name, 'n', sizeof info->name);
  if (hostile_is(engine, "version_rubbish")) memset(info->version, '\xFE', sizeof info->version);
  if (hostile_is(engine, "huge_jobs")) info->max_transcriptions = UINT_MAX;
  if (hostile_is(engine, "huge_lanes")) info->max_lanes = UINT_MAX;
  if (hostile_is(engine, "negative_step")) info->micro_step_us = -1;
  if (hostile_is(engine, "endless_step")) info->micro_step_us = INT64_MAX;
  if (hostile_is(engine, "info_overrun")) memset(info, 'o', sizeof *info + 16);
}

static void break_output(sfl_engine* engine, sfl_output* output) {
  if (hostile_is(engine, "json_array")) answer(output, "[1]");
  if (hostile_is(engine, "json_cut")) answer(output, "{\"a\": ");
  if (hostile_is(engine, "json_not_utf8")) answer(output, "{\"a\": \"\xFF\"}");
  if (hostile_is(engine, "json_empty")) output->size = 0;
  if (hostile_is(engine, "json_swapped")) *output = (sfl_output){(char*)(uintptr_t)16, 99, 99};
  if (hostile_is(engine, "json_overrun")) memset(output->data, 'o', output->capacity + 16);
  if (hostile_is(engine, "json_huge")) output->size = SIZE_MAX;
  /* Always a little longer than the room there is. */
  if (hostile_is(engine, "json_grows")) output->size = output->capacity + 1;
  if (hostile_is(engine, "json_fails_later") && engine->describes > 1) output->size = SIZE_MAX;
}

sfl_status hostile_describe(sfl_engine* engine, sfl_engine_info* info, sfl_output* capabilities,
                            sfl_error* error) {
  (void)error;
  ++engine->describes;
  if (hostile_is(engine, "describe_fails")) return SFL_UNAVAILABLE;
  info->max_transcriptions = 4;
  strcpy(info->name, "hostile");
  strcpy(info->version, "1");
  answer(capabilities, "{}");
  break_info(engine, info);
  break_output(engine, capabilities);
  return SFL_OK;
}
