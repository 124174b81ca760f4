// A C++ plug-in that breaks the rule that no exception may leave it. Its option `at` says where it
// throws: the name of a function of the table, or "nowhere"; `what` "odd" throws no std::exception.
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "engine/abi/superfluid_engine.h"

struct sfl_engine {
  std::string at;
  std::string what;
};

struct sfl_transcription {};

namespace {

void MaybeThrow(const sfl_engine& engine, const char* here) {
  if (engine.at != here) return;
  if (engine.what == "odd") throw 42;
  if (engine.what == "memory") throw std::bad_alloc();
  throw std::runtime_error("thrown on purpose");
}

sfl_status Create(const sfl_config* config, const sfl_host*, sfl_engine** engine, sfl_error*) {
  sfl_engine made;
  for (uint32_t i = 0; i < config->option_count; ++i) {
    const std::string value(config->options[i].value.data, config->options[i].value.size);
    (std::strcmp(config->options[i].key.data, "at") == 0 ? made.at : made.what) = value;
  }
  MaybeThrow(made, "create");
  *engine = new sfl_engine(made);
  return SFL_OK;
}

void Destroy(sfl_engine* engine) {
  const sfl_engine copy = *engine;
  delete engine;
  MaybeThrow(copy, "destroy");
}

sfl_status Describe(sfl_engine* engine, sfl_engine_info* info, sfl_output* output, sfl_error*) {
  MaybeThrow(*engine, "describe");
  info->max_transcriptions = 1;
  std::strcpy(info->name, "throwing");
  std::memcpy(output->data, "{}", 2);
  output->size = 2;
  return SFL_OK;
}

sfl_status Memory(sfl_engine* engine, sfl_memory*, sfl_error*) {
  MaybeThrow(*engine, "memory");
  return SFL_OK;
}

sfl_status Reset(sfl_engine* engine, sfl_error*) {
  MaybeThrow(*engine, "reset");
  return SFL_OK;
}

sfl_status Start(sfl_engine* engine, const sfl_transcription_params*, const sfl_audio*,
                 sfl_transcription** job, sfl_error*) {
  MaybeThrow(*engine, "transcription_start");
  *job = new sfl_transcription;
  return SFL_OK;
}

sfl_status Step(sfl_engine* engine, sfl_transcription*, const sfl_step*, uint32_t* outcome,
                sfl_error*) {
  MaybeThrow(*engine, "transcription_step");
  *outcome = SFL_STEP_MORE;
  return SFL_OK;
}

sfl_status Progress(sfl_engine* engine, sfl_transcription*, sfl_progress*, sfl_error*) {
  MaybeThrow(*engine, "transcription_progress");
  return SFL_OK;
}

void Free(sfl_engine* engine, sfl_transcription* job) {
  delete job;
  MaybeThrow(*engine, "transcription_free");
}

const sfl_engine_vtable kTable = {sizeof(sfl_engine_vtable),
                                  SFL_ABI_VERSION,
                                  &Create,
                                  &Destroy,
                                  &Describe,
                                  &Memory,
                                  &Reset,
                                  &Start,
                                  &Step,
                                  &Progress,
                                  &Free};

}  // namespace

const sfl_engine_vtable* superfluid_engine_entry(uint32_t) { return &kTable; }
