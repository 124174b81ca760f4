#ifndef SUPERFLUID_PROTOCOL_CODEC_DIRECT_TICK_H_
#define SUPERFLUID_PROTOCOL_CODEC_DIRECT_TICK_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "protocol/messages/tick_messages.h"

// The messages of a tick without Protobuf objects. Internal to the codecs.
namespace superfluid::linkw {

// Reads a payload. Returns false if something is wrong with it, or might be: the scan and Protobuf
// then decide, and say what. REQUIRES: `message` is as its default; after a no it is unspecified.
bool ReadDirect(std::string_view payload, TickSubmit& message);
bool ReadDirect(std::string_view payload, TickResult& message);
bool ReadDirect(std::string_view payload, TickEmit& message);

// Returns the payload, byte for byte as Protobuf would write it, behind `room` bytes of unspecified
// contents.
std::string WriteDirect(const TickSubmit& message, size_t room);
std::string WriteDirect(const TickResult& message, size_t room);
std::string WriteDirect(const TickEmit& message, size_t room);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_DIRECT_TICK_H_
