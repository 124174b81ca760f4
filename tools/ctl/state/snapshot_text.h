#ifndef SUPERFLUID_TOOLS_CTL_STATE_SNAPSHOT_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_STATE_SNAPSHOT_TEXT_H_

#include <string>
#include <vector>

#include "protocol/codec/state_envelope.h"
#include "tools/ctl/formats/json_text.h"
#include "tools/ctl/state/snapshot_file.h"

// A snapshot file as text and as JSON. Pure functions.
namespace superfluid::ctl {

// "talk.sfl: 17 tokens (16 in the state), 2 state spaces, 12.3 KiB" and a line break.
std::string SnapshotLine(const std::string& path, const SnapshotDirectory& directory);
Json SnapshotJson(const std::string& path, const SnapshotDirectory& directory);

// The line, and one for each space: its envelope. `envelopes`: of each space.
std::string SnapshotDetails(const std::string& path, const SnapshotDirectory& directory,
                            const std::vector<linkw::StateEnvelope>& envelopes);
Json SnapshotDetailsJson(const std::string& path, const SnapshotDirectory& directory,
                         const std::vector<linkw::StateEnvelope>& envelopes);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_STATE_SNAPSHOT_TEXT_H_
