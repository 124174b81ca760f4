#ifndef SUPERFLUID_TOOLS_DECODE_ALLOWED_FORMATS_H_
#define SUPERFLUID_TOOLS_DECODE_ALLOWED_FORMATS_H_

#include <string>
#include <string_view>

namespace superfluid::decode {

// The containers and codecs that may be decoded, as libav names them, separated by commas: those in
// which recordings come. Left out are formats that name other files (hls, concat, dash, imf, ...),
// devices, pictures, and decoders of other libraries than libav's own.
extern const char kAllowedContainers[];
extern const char kAllowedCodecs[];

// Whether one of the names of a container ("mov,mp4,m4a") is among those that are allowed.
bool IsAllowedContainer(const char* names);
bool IsAllowedCodec(const char* name);

// For a refusal: the name, and why it is refused where there is more to say.
std::string RefusalText(std::string_view container);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_ALLOWED_FORMATS_H_
