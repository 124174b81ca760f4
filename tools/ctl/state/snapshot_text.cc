#include "tools/ctl/state/snapshot_text.h"

#include "absl/strings/str_cat.h"
#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/formats/unit_text.h"
#include "tools/ctl/formats/worker_text.h"

namespace superfluid::ctl {
namespace {

uint64_t SealedBytes(const SnapshotDirectory& directory) {
  uint64_t bytes = 0;
  for (const SnapshotSpace& space : directory.spaces) bytes += space.sealed_bytes;
  return bytes;
}

Json EnvelopeJson(const linkw::StateEnvelope& envelope) {
  return {{"space_id", static_cast<uint32_t>(envelope.space_id)},
          {"encoding", envelope.encoding},
          {"range", {envelope.range.start, envelope.range.end}},
          {"payload_bytes", envelope.payload_bytes},
          {"compat_key", HashText(envelope.compat_key)},
          {"provenance", HashText(envelope.provenance)}};
}

std::string EnvelopeLine(const linkw::StateEnvelope& envelope) {
  return absl::StrCat("  state space ", static_cast<uint32_t>(envelope.space_id), ": tokens ",
                      envelope.range.start, " to ", envelope.range.end, ", encoding ",
                      envelope.encoding, ", ", BytesText(envelope.payload_bytes),
                      "\n    compat key ", HashText(envelope.compat_key), "\n    provenance ",
                      HashText(envelope.provenance), "\n");
}

}  // namespace

std::string SnapshotLine(const std::string& path, const SnapshotDirectory& directory) {
  return absl::StrCat(OneLine(path), ": ", CountText(directory.tokens.size(), "token"), " (",
                      directory.position, " in the state), ",
                      CountText(directory.spaces.size(), "state space"), ", ",
                      BytesText(SealedBytes(directory)), "\n");
}

Json SnapshotJson(const std::string& path, const SnapshotDirectory& directory) {
  return {{"file", path},
          {"tokens", directory.tokens.size()},
          {"position", directory.position},
          {"state_spaces", directory.spaces.size()},
          {"sealed_bytes", SealedBytes(directory)},
          {"tokens_are_bytes", directory.tokens_are_bytes},
          {"engine_bundle_hash", HashText(directory.bundle_hash)}};
}

std::string SnapshotDetails(const std::string& path, const SnapshotDirectory& directory,
                            const std::vector<linkw::StateEnvelope>& envelopes) {
  std::string text = absl::StrCat(SnapshotLine(path, directory), "  made by engine bundle ",
                                  HashText(directory.bundle_hash), "\n");
  for (const linkw::StateEnvelope& envelope : envelopes) text += EnvelopeLine(envelope);
  return text;
}

Json SnapshotDetailsJson(const std::string& path, const SnapshotDirectory& directory,
                         const std::vector<linkw::StateEnvelope>& envelopes) {
  Json json = SnapshotJson(path, directory);
  json["token_ids"] = directory.tokens;
  json["envelopes"] = Json::array();
  for (const linkw::StateEnvelope& envelope : envelopes) {
    json["envelopes"].push_back(EnvelopeJson(envelope));
  }
  return json;
}

}  // namespace superfluid::ctl
