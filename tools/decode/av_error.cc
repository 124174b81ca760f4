#include "tools/decode/av_error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <array>
#include <cerrno>

#include "absl/strings/str_cat.h"

namespace superfluid::decode {

DecodeError ErrorOf(int code, const std::string& doing) {
  if (code == AVERROR(ENOMEM)) {
    return {DecodeOutcome::kOutOfMemory, "it needs more memory than a recording may use"};
  }
  if (code == AVERROR(EFBIG)) {
    return {DecodeOutcome::kTooLarge, "it has more bytes than are allowed"};
  }
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text = {};
  av_strerror(code, text.data(), text.size());
  return {DecodeOutcome::kDamaged, absl::StrCat(doing, ": ", text.data())};
}

}  // namespace superfluid::decode
