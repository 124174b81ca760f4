/* Plug-ins that must be refused before any engine is made; which one, the build says. */
#include <stdlib.h>

#include "engine/abi/superfluid_engine.h"

/* Called by mistake, they end the test. */
static sfl_status create(const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                         sfl_error* error) {
  (void)config, (void)host, (void)engine, (void)error;
  abort();
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

static void free_job(sfl_engine* engine, sfl_transcription* job) {
  (void)engine, (void)job;
  abort();
}

#ifndef STRUCT_SIZE
#define STRUCT_SIZE sizeof(sfl_engine_vtable)
#endif
#ifndef VERSION
#define VERSION SFL_ABI_VERSION
#endif
#ifndef CREATE
#define CREATE create
#endif
#ifndef DESTROY
#define DESTROY destroy
#endif
#ifndef DESCRIBE
#define DESCRIBE describe
#endif
#ifndef FREE
#define FREE NULL
#endif
#ifndef ENTRY
#define ENTRY superfluid_engine_entry
#endif
#ifndef TABLE
#define TABLE &table
#endif

const sfl_engine_vtable table = {
    .struct_size = STRUCT_SIZE,
    .abi_version = VERSION,
    .create = CREATE,
    .destroy = DESTROY,
    .describe = DESCRIBE,
    .transcription_free = FREE,
};

/* Uses what the table may leave out. */
const sfl_engine_vtable rest = {
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .transcription_free = free_job,
};

SFL_EXPORT const sfl_engine_vtable* ENTRY(uint32_t host_abi_version);
const sfl_engine_vtable* ENTRY(uint32_t host_abi_version) {
  (void)host_abi_version;
  return TABLE;
}
