#include <stdlib.h>
#include <string.h>

#include "engine/abi/superfluid_engine.h"

struct sfl_engine {
  int unused;
};

static sfl_status create(const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                         sfl_error* error) {
  (void)config, (void)host;
  *engine = calloc(1, sizeof **engine);
  if (*engine != NULL) return SFL_OK;
  sfl_set_error(error, "out of memory");
  return SFL_RESOURCE_EXHAUSTED;
}

static void destroy(sfl_engine* engine) { free(engine); }

static sfl_status describe(sfl_engine* engine, sfl_engine_info* info, sfl_output* capabilities,
                           sfl_error* error) {
  (void)engine, (void)error;
  strcpy(info->name, "mine");
  memcpy(capabilities->data, "{}", 2);
  capabilities->size = 2;
  return SFL_OK;
}

static const sfl_engine_vtable table = {
    .struct_size = sizeof(sfl_engine_vtable),
    .abi_version = SFL_ABI_VERSION,
    .create = create,
    .destroy = destroy,
    .describe = describe,
};

const sfl_engine_vtable* superfluid_engine_entry(uint32_t host_abi_version) {
  return host_abi_version == SFL_ABI_VERSION ? &table : NULL;
}
