#include "actors/runtime/status_error.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "caf/atom.hpp"
#include "caf/make_message.hpp"
#include "caf/sec.hpp"

namespace superfluid {
namespace {

const caf::atom_value kStatusCategory = caf::atom("sfstatus");

absl::Status FromSystemError(caf::sec code) {
  switch (code) {
    case caf::sec::request_timeout:
      return absl::DeadlineExceededError("an actor did not answer in time");
    case caf::sec::request_receiver_down:
      return absl::UnavailableError("an actor ended before it answered");
    default:
      return absl::InternalError(absl::StrCat("actor system: ", caf::to_string(code)));
  }
}

}  // namespace

caf::error ToError(const absl::Status& status) {
  if (status.ok()) return {};
  return caf::error{static_cast<uint8_t>(status.code()), kStatusCategory,
                    caf::make_message(std::string(status.message()))};
}

absl::Status ToStatus(const caf::error& error) {
  if (!error) return absl::OkStatus();
  if (error.category() == kStatusCategory) {
    const auto& context = error.context();
    std::string text = context.match_elements<std::string>() ? context.get_as<std::string>(0) : "";
    return {static_cast<absl::StatusCode>(error.code()), text};
  }
  if (error.category() == caf::atom("system")) {
    return FromSystemError(static_cast<caf::sec>(error.code()));
  }
  return absl::InternalError(absl::StrCat("actor system: error ", error.code()));
}

}  // namespace superfluid
