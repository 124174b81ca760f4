#ifndef SUPERFLUID_TOOLS_CTL_STATE_SNAPSHOT_LAYOUT_H_
#define SUPERFLUID_TOOLS_CTL_STATE_SNAPSHOT_LAYOUT_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Where things are in a snapshot file; see SnapshotFile.
namespace superfluid::ctl {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::string_view kSnapshotMagic = "SFLSNAP\n";
inline constexpr uint32_t kSnapshotVersion = 1;
inline constexpr size_t kSnapshotVersionAt = 8;
inline constexpr size_t kSnapshotFlagsAt = 12;
inline constexpr size_t kSnapshotBundleAt = 16;
inline constexpr size_t kSnapshotPositionAt = 48;
inline constexpr size_t kSnapshotTokensAt = 56;
inline constexpr size_t kSnapshotSpacesAt = 60;
inline constexpr size_t kSnapshotHeaderBytes = 64;
inline constexpr size_t kSnapshotSpaceBytes = 16;
inline constexpr size_t kSnapshotHashBytes = 8;
inline constexpr uint64_t kSnapshotMaxSpaces = 64;

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_STATE_SNAPSHOT_LAYOUT_H_
