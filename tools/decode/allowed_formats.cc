#include "tools/decode/allowed_formats.h"

extern "C" {
#include <libavutil/avstring.h>
}

#include <array>

#include "absl/strings/str_cat.h"

namespace superfluid::decode {
namespace {

// Formats that would have libav open the files and addresses that they name.
constexpr std::array kPlaylists = {
    std::string_view("hls"),    std::string_view("concat"),
    std::string_view("dash"),   std::string_view("imf"),
    std::string_view("sdp"),    std::string_view("rtsp"),
    std::string_view("ffmeta"), std::string_view("webm_dash_manifest")};

}  // namespace

const char kAllowedContainers[] =
    "aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dts,eac3,flac,flv,gsm,loas,matroska,webm,"
    "mov,mp4,m4a,3gp,3g2,mj2,mp3,mpeg,mpegts,ogg,rm,tta,w64,wav,wv";

const char kAllowedCodecs[] =
    "aac,aac_latm,ac3,adpcm_g722,adpcm_g726,adpcm_ima_qt,adpcm_ima_wav,adpcm_ms,adpcm_swf,"
    "adpcm_yamaha,alac,amrnb,amrwb,ape,cook,dca,eac3,flac,gsm,gsm_ms,"
    "mp1float,mp2float,mp3float,nellymoser,opus,pcm_alaw,pcm_bluray,pcm_dvd,pcm_f32be,pcm_f32le,"
    "pcm_f64be,pcm_f64le,"
    "pcm_mulaw,pcm_s16be,pcm_s16le,pcm_s24be,pcm_s24le,pcm_s32be,pcm_s32le,pcm_s8,pcm_u8,"
    "qdm2,sipr,tta,vorbis,wavpack,wmalossless,wmapro,wmav1,wmav2,wmavoice";

bool IsAllowedContainer(const char* names) {
  return av_match_list(names, kAllowedContainers, ',') != 0;
}

bool IsAllowedCodec(const char* name) { return av_match_list(name, kAllowedCodecs, ',') != 0; }

std::string RefusalText(std::string_view container) {
  for (const std::string_view playlist : kPlaylists) {
    if (container.substr(0, container.find(',')) == playlist) {
      return absl::StrCat("it is a list of other files (", std::string(container),
                          "), which are not opened");
    }
  }
  return absl::StrCat("its format (", std::string(container), ") is none that recordings come in");
}

}  // namespace superfluid::decode
