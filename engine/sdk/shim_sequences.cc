#include "engine/sdk/shim_types.h"

// Of the shim: sequences, and the end of a session.
namespace superfluid::sdk {
namespace {

sfl_status CreateSequence(sfl_engine* engine, uint64_t* sequence, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return Put(generation.CreateSequence(), sequence);
  });
}

sfl_status FreeSequence(sfl_engine* engine, uint64_t sequence, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return generation.FreeSequence(SequenceHandle{sequence});
  });
}

sfl_status Fork(sfl_engine* engine, uint64_t parent, uint32_t flags, uint64_t* sequence,
                sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return Put(generation.Fork(SequenceHandle{parent}, flags), sequence);
  });
}

sfl_status Trim(sfl_engine* engine, uint64_t sequence, uint32_t space, uint64_t new_len,
                sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return generation.Trim(SequenceHandle{sequence}, SpaceId{space}, new_len);
  });
}

sfl_status LaneSequence(sfl_engine* engine, uint64_t tag, uint64_t* sequence,
                        sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return Put(generation.LaneSequence(LaneTag{tag}), sequence);
  });
}

sfl_status EndSession(sfl_engine* engine, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    generation.EndSession();
    return absl::OkStatus();
  });
}

}  // namespace

void AddSequences(sfl_engine_vtable& table) noexcept {
  table.create_sequence = &CreateSequence;
  table.free_sequence = &FreeSequence;
  table.fork = &Fork;
  table.trim = &Trim;
  table.lane_sequence = &LaneSequence;
  table.end_session = &EndSession;
}

}  // namespace superfluid::sdk
