#include "engine/abi/status_codes.h"

#include <exception>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"

namespace superfluid {

absl::Status StatusFromAbi(sfl_status code, absl::string_view message) {
  if (code == SFL_OK) return absl::OkStatus();
  if (code < SFL_OK || code > SFL_DATA_LOSS) {
    return absl::InternalError(absl::StrCat("returned ", code, ", which is no status code",
                                            message.empty() ? "" : ": ", message));
  }
  return absl::Status(static_cast<absl::StatusCode>(code), message);
}

sfl_status StatusCodeToAbi(absl::StatusCode code) {
  const auto number = static_cast<sfl_status>(code);
  return number >= SFL_OK && number <= SFL_DATA_LOSS ? number : SFL_INTERNAL;
}

sfl_status StatusToAbi(const absl::Status& status, sfl_error* error) {
  if (!status.ok()) sfl_set_error(error, std::string(status.message()).c_str());
  return StatusCodeToAbi(status.code());
}

absl::Status StatusFromCurrentException(absl::string_view who) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(who, " ran out of memory"));
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat(who, " threw an exception: ", e.what()));
  } catch (...) {
    return absl::InternalError(absl::StrCat(who, " threw an unknown exception"));
  }
}

}  // namespace superfluid
