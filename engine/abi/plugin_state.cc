#include "absl/strings/str_cat.h"
#include "engine/abi/plugin_generation.h"
#include "engine/abi/plugin_state_job.h"
#include "engine/abi/state_spaces.h"

// Of PluginGeneration: the state of sequences.
namespace superfluid {
namespace {

constexpr uint64_t kUnset = ~uint64_t{0};
// No answer of a hash function; seen if the plug-in forgot to write one.
constexpr uint8_t kUnsetDigestByte = 0xFF;

absl::Status CheckRange(TokenRange range) {
  if (range.start <= range.end) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a range from ", range.start, " to ", range.end, " is none"));
}

sfl_state_range RangeOf(SequenceHandle sequence, SpaceId space, TokenRange range,
                        uint32_t encoding) {
  return {sizeof(sfl_state_range),
          static_cast<uint32_t>(space),
          static_cast<uint64_t>(sequence),
          range.start,
          range.end,
          encoding,
          0};
}

Digest UnsetDigest() {
  Digest unset{};
  unset.fill(kUnsetDigestByte);
  return unset;
}

}  // namespace

absl::StatusOr<uint64_t> PluginGeneration::SnapshotBoundary(SequenceHandle sequence, SpaceId space,
                                                            uint64_t cap) {
  CheckThread("snapshot_boundary");
  if (functions().snapshot_boundary == nullptr) {
    return Generation::SnapshotBoundary(sequence, space, cap);
  }
  const auto handle = static_cast<uint64_t>(sequence);
  if (absl::Status status = sequences_.CheckLive(handle); !status.ok()) return status;
  absl::StatusOr<uint64_t> position =
      Number("snapshot_boundary", kUnset, [&](uint64_t* answer, sfl_error* error) {
        return functions().snapshot_boundary(plugin_.engine, handle, static_cast<uint32_t>(space),
                                             cap, answer, error);
      });
  if (position.ok() && *position > cap) {
    return BrokenRule("snapshot_boundary", "answered ", *position, ", which is beyond ", cap);
  }
  return position;
}

absl::StatusOr<ExportSize> PluginGeneration::SizeOfExport(SequenceHandle sequence, SpaceId space,
                                                          TokenRange range, uint32_t encoding) {
  CheckThread("export_size");
  if (functions().export_size == nullptr) {
    return Generation::SizeOfExport(sequence, space, range, encoding);
  }
  absl::Status status = sequences_.CheckLive(static_cast<uint64_t>(sequence));
  if (status.ok()) status = CheckRange(range);
  if (!status.ok()) return status;
  const sfl_state_range what = RangeOf(sequence, space, range, encoding);
  GuardedValue<sfl_export_size> size({0, 0, kUnset, 0});
  status = InPlugin("export_size", [&](sfl_error* error) {
    return functions().export_size(plugin_.engine, &what, size.get(), error);
  });
  if (!size.intact()) return WrotePastTheEnd("export_size");
  if (!status.ok()) return status;
  if (size.value().bytes == kUnset) return BrokenRule("export_size", "left its result unset");
  return ExportSize{size.value().bytes, size.value().sizing_gen};
}

absl::StatusOr<Digest> PluginGeneration::Provenance(SequenceHandle sequence, SpaceId space,
                                                    TokenRange range) {
  CheckThread("provenance");
  if (functions().provenance == nullptr) return Generation::Provenance(sequence, space, range);
  absl::Status status = sequences_.CheckLive(static_cast<uint64_t>(sequence));
  if (status.ok()) status = CheckRange(range);
  if (!status.ok()) return status;
  const sfl_state_range what = RangeOf(sequence, space, range, 0);
  GuardedValue<sfl_digest> digest(DigestToAbi(UnsetDigest()));
  status = InPlugin("provenance", [&](sfl_error* error) {
    return functions().provenance(plugin_.engine, &what, digest.get(), error);
  });
  if (!digest.intact()) return WrotePastTheEnd("provenance");
  if (!status.ok()) return status;
  const Digest answer = DigestFromAbi(digest.value());
  if (answer == UnsetDigest()) return BrokenRule("provenance", "left its result unset");
  return answer;
}

absl::StatusOr<std::unique_ptr<StateJob>> PluginGeneration::StartExport(const StateExport& what,
                                                                        absl::Span<std::byte> out) {
  CheckThread("export_start");
  if (functions().export_start == nullptr) return Generation::StartExport(what, out);
  absl::Status status = sequences_.CheckLive(static_cast<uint64_t>(what.sequence));
  if (status.ok()) status = CheckRange(what.range);
  if (!status.ok()) return status;
  return PluginStateJob::Export(plugin_, what, out);
}

absl::StatusOr<std::unique_ptr<StateJob>> PluginGeneration::StartImport(
    const StateImport& what, absl::Span<const std::byte> bytes) {
  CheckThread("import_start");
  if (functions().import_start == nullptr) return Generation::StartImport(what, bytes);
  absl::Status status = sequences_.CheckLive(static_cast<uint64_t>(what.sequence));
  if (status.ok()) status = CheckRange(what.range);
  if (!status.ok()) return status;
  return PluginStateJob::Import(plugin_, what, bytes);
}

}  // namespace superfluid
