#ifndef SUPERFLUID_TESTS_ACTORS_FAKE_GENERATION_H_
#define SUPERFLUID_TESTS_ACTORS_FAKE_GENERATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/generation.h"
#include "shm/ring.h"
#include "shm/segment.h"

namespace superfluid {

// An engine whose answers a test scripts, right or wrong.
class FakeGeneration : public Generation {
 public:
  std::function<absl::StatusOr<std::vector<LaneResult>>(const Tick&, const CancelToken&, TickHost&)>
      run_tick;
  std::function<absl::StatusOr<std::unique_ptr<StateJob>>(const StateExport&,
                                                          absl::Span<std::byte>)>
      start_export;
  std::function<absl::StatusOr<std::unique_ptr<StateJob>>(const StateImport&,
                                                          absl::Span<const std::byte>)>
      start_import;
  std::function<void()> end_session;
  ExportSize export_size = {.bytes = 100, .sizing_gen = 7};
  uint64_t next_handle = 1;
  std::vector<std::string> calls;

  std::vector<StateSpace> StateSpaces() const override { return {{.name = "kv"}}; }
  absl::StatusOr<std::vector<LaneResult>> RunTick(const Tick& tick, const CancelToken& token,
                                                  TickHost& host) override {
    calls.emplace_back("tick");
    return run_tick(tick, token, host);
  }
  absl::StatusOr<SequenceHandle> CreateSequence() override {
    calls.emplace_back("create_sequence");
    return SequenceHandle{next_handle++};
  }
  absl::Status FreeSequence(SequenceHandle /*sequence*/) override {
    calls.emplace_back("free_sequence");
    return absl::OkStatus();
  }
  absl::StatusOr<SequenceHandle> Fork(SequenceHandle /*parent*/, uint32_t /*flags*/) override {
    calls.emplace_back("fork");
    return SequenceHandle{next_handle++};
  }
  absl::StatusOr<GrammarHandle> CreateGrammar(absl::string_view /*schema*/,
                                              const CallControl& /*control*/) override {
    calls.emplace_back("create_grammar");
    return GrammarHandle{next_handle++};
  }
  absl::StatusOr<std::vector<float>> Embed(absl::Span<const Token> /*tokens*/,
                                           const CallControl& control) override {
    calls.emplace_back("embed");
    if (absl::Status status = control.GoOn(); !status.ok()) return status;
    return std::vector<float>{0.5F};
  }
  absl::StatusOr<Lease> AcquireSeed(absl::Span<const Token> /*tokens*/, uint64_t /*prefix_len*/,
                                    uint32_t /*determinism_class*/,
                                    absl::Span<const uint64_t> /*media_deps*/) override {
    calls.emplace_back("acquire_seed");
    return Lease{.seed = SeedHandle{next_handle++}, .ttl_ms = 5, .ttl_ticks = 6};
  }
  absl::Status ReleaseSeed(SeedHandle /*seed*/) override {
    calls.emplace_back("release_seed");
    return absl::OkStatus();
  }
  absl::StatusOr<AdapterId> LoadAdapter(const std::string& path,
                                        const CallControl& /*control*/) override {
    calls.emplace_back("load_adapter " + path);
    return AdapterId{3};
  }
  absl::StatusOr<ExportSize> SizeOfExport(SequenceHandle /*sequence*/, SpaceId /*space*/,
                                          TokenRange /*range*/, uint32_t /*encoding*/) override {
    return export_size;
  }
  absl::StatusOr<Digest> Provenance(SequenceHandle /*sequence*/, SpaceId /*space*/,
                                    TokenRange /*range*/) override {
    return Digest{9};
  }
  absl::StatusOr<std::unique_ptr<StateJob>> StartExport(const StateExport& what,
                                                        absl::Span<std::byte> out) override {
    return start_export(what, out);
  }
  absl::StatusOr<std::unique_ptr<StateJob>> StartImport(
      const StateImport& what, absl::Span<const std::byte> bytes) override {
    return start_import(what, bytes);
  }
  void EndSession() override {
    if (end_session) end_session();
  }
};

class FakeEngine : public Engine {
 public:
  explicit FakeEngine(bool generates = true) {
    info_.name = "fake";
    info_.max_lanes = 256;
    info_.vocab_size = 1000;
    if (generates) generation_ = std::make_unique<FakeGeneration>();
  }
  const EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override { return "{}"; }
  Generation* generation() override { return generation_.get(); }
  MemoryCounters Memory() const override {
    if (on_memory) on_memory();
    return {};
  }
  void Reset() override {
    if (on_reset) on_reset();
  }
  FakeGeneration& fake() { return *generation_; }

  std::function<void()> on_memory;
  std::function<void()> on_reset;

 private:
  EngineInfo info_;
  std::unique_ptr<FakeGeneration> generation_;
};

// The daemon's ends of the three rings, and the worker's.
struct RingsOfTest {
  RingsOfTest()
      : in(RingWriter::Open(Make(kTokenInRing), kTokenInRing).value()),
        out(RingReader::Open(Make(kTokenOutRing), kTokenOutRing).value()),
        logits(RingReader::Open(Make(kLogitsRing), kLogitsRing).value()) {}

  static Segment Make(const RingSpec& spec) {
    return Segment::Create(RingBytes(spec).value(), "test").value();
  }
  // The same memory once more.
  static Segment Again(const Segment& segment) {
    return Segment::Attach(segment.DuplicateFd().value(), segment.size(), SegmentAccess::kReadWrite)
        .value();
  }

  RingWriter in;
  RingReader out;
  RingReader logits;
};

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ACTORS_FAKE_GENERATION_H_
