/* An engine that is being made for ever. It says so by a byte in the FIFO that its option names. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/abi/superfluid_engine.h"

static sfl_status create(const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                         sfl_error* error) {
  (void)host, (void)engine;
  const int fifo = config->option_count == 1 ? open(config->options[0].value.data, O_WRONLY) : -1;
  if (fifo < 0 || write(fifo, "!", 1) != 1) {
    sfl_set_error(error, "the only option is the path of a FIFO");
    return SFL_INVALID_ARGUMENT;
  }
  for (;;) pause();
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
