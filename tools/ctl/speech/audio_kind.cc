#include "tools/ctl/speech/audio_kind.h"

#include <array>

namespace superfluid::ctl {
namespace {

struct Kind {
  std::string_view magic;
  size_t at;
  const char* name;
};

constexpr std::array kKinds = {
    Kind{"RIFF", 0, "a RIFF file that is no WAV file"},
    Kind{"RIFX", 0, "a big-endian WAV file"},
    Kind{"RF64", 0, "a 64-bit WAV file (RF64)"},
    Kind{"fLaC", 0, "a FLAC file"},
    Kind{"OggS", 0, "an Ogg file"},
    Kind{"ID3", 0, "an MP3 file"},
    Kind{"FORM", 0, "an AIFF file"},
    Kind{"caff", 0, "a CAF file"},
    Kind{".snd", 0, "an AU file"},
    Kind{"ftyp", 4, "an MP4 file"},
    Kind{"\x1A\x45\xDF\xA3", 0, "a Matroska or WebM file"},
    Kind{"#!AMR", 0, "an AMR file"},
    Kind{"\x30\x26\xB2\x75\x8E\x66\xCF\x11", 0, "a Windows Media file"},
    Kind{"FLV\x01", 0, "a Flash video"},
};

bool Has(std::string_view begin, const Kind& kind) {
  return begin.size() >= kind.at && begin.substr(kind.at, kind.magic.size()) == kind.magic;
}

}  // namespace

bool BeginsAsWav(std::string_view begin) {
  return begin.substr(0, 4) == "RIFF" && begin.size() >= kAudioKindBytes &&
         begin.substr(8, 4) == "WAVE";
}

std::string RecordingKind(std::string_view begin) {
  if (BeginsAsWav(begin)) return "a WAV file";
  for (const Kind& kind : kKinds) {
    if (Has(begin, kind)) return kind.name;
  }
  return "";
}

}  // namespace superfluid::ctl
