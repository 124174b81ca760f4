#ifndef SUPERFLUID_TOOLS_DECODE_FOREIGN_RECORDING_H_
#define SUPERFLUID_TOOLS_DECODE_FOREIGN_RECORDING_H_

#include <cstddef>
#include <string_view>

namespace superfluid::decode {

// How many bytes from the beginning of a file tell whether it is foreign.
inline constexpr size_t kForeignKindBytes = 256;

// Returns whether the file that begins with these bytes is of a kind that holds recordings and that
// the worker does not read: mp4, m4a, aac, webm, amr, wma ... Raw samples may look like aac and
// mpeg transport streams. Pure.
bool IsForeignRecording(std::string_view begin);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_FOREIGN_RECORDING_H_
