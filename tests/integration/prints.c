/* An engine that prints to both standard descriptors, as a library may, and then cannot be made. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/abi/superfluid_engine.h"

static sfl_status create(const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                         sfl_error* error) {
  (void)config, (void)host, (void)engine;
  fprintf(stderr, "a library's \"complaint\"\n");
  printf("a library's result\n");
  sfl_set_error(error, "this engine only prints");
  return SFL_INVALID_ARGUMENT;
}

static void destroy(sfl_engine* engine) {
  (void)engine;
  abort();
}

static sfl_status describe(sfl_engine* engine, sfl_engine_info* info, sfl_output* capabilities,
                           sfl_error* error) {
  (void)engine, (void)info, (void)capabilities, (void)error;
  abort();
}

static const sfl_engine_vtable table = {
    .struct_size = sizeof(sfl_engine_vtable),
    .abi_version = SFL_ABI_VERSION,
    .create = create,
    .destroy = destroy,
    .describe = describe,
};

SFL_EXPORT const sfl_engine_vtable* superfluid_engine_entry(uint32_t host_abi_version);
const sfl_engine_vtable* superfluid_engine_entry(uint32_t host_abi_version) {
  (void)host_abi_version;
  return &table;
}
