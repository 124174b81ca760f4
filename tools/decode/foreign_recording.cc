#include "tools/decode/foreign_recording.h"

#include <algorithm>
#include <array>

namespace superfluid::decode {
namespace {

struct Magic {
  std::string_view bytes;
  size_t at;
};

constexpr std::array kForeign = {
    Magic{"ftyp", 4},
    Magic{"moov", 4},
    Magic{"\x1A\x45\xDF\xA3", 0},
    Magic{"#!AMR", 0},
    Magic{"\x30\x26\xB2\x75\x8E\x66\xCF\x11", 0},
    Magic{"FLV\x01", 0},
    Magic{"AVI ", 8},
    Magic{std::string_view("\0\0\x01\xBA", 4), 0},  // MPEG program stream
    Magic{"\x0B\x77", 0},                           // AC-3
    Magic{"wvpk", 0},
    Magic{"MAC ", 0},
    Magic{"TTA1", 0},
    Magic{".RMF", 0},
};

constexpr size_t kTransportPacket = 188;
constexpr char kTransportSync = 0x47;

// The sync word of a frame with a layer that MP3 does not have.
bool BeginsAsAdts(std::string_view begin) {
  return begin.size() > 1 && begin[0] == '\xFF' && (begin[1] & 0xF6) == 0xF0;
}

bool BeginsAsTransportStream(std::string_view begin) {
  return begin.size() > kTransportPacket && begin[0] == kTransportSync &&
         begin[kTransportPacket] == kTransportSync;
}

}  // namespace

bool IsForeignRecording(std::string_view begin) {
  const auto has = [begin](const Magic& magic) {
    return begin.size() >= magic.at && begin.substr(magic.at, magic.bytes.size()) == magic.bytes;
  };
  return BeginsAsAdts(begin) || BeginsAsTransportStream(begin) ||
         std::any_of(kForeign.begin(), kForeign.end(), has);
}

}  // namespace superfluid::decode
