#include "tools/ctl/generation/generation.h"

namespace superfluid::ctl {

std::string_view FinishName(linkw::FinishReason reason) {
  switch (reason) {
    case linkw::FinishReason::kNotFinished:
      return "max-tokens";
    case linkw::FinishReason::kStopToken:
      return "stop token";
    case linkw::FinishReason::kLength:
      return "context full";
    case linkw::FinishReason::kStopped:
      return "stopped";
    case linkw::FinishReason::kError:
      return "error";
  }
  return "unknown";
}

}  // namespace superfluid::ctl
