#ifndef SUPERFLUID_ENGINE_ABI_PLUGIN_CALL_H_
#define SUPERFLUID_ENGINE_ABI_PLUGIN_CALL_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/abi/guarded_buffer.h"
#include "engine/abi/status_codes.h"
#include "engine/abi/superfluid_engine.h"

namespace superfluid {

// What a call of a plug-in that broke a rule of the C interface comes to: "CALL: the engine RULE".
template <typename... Parts>
absl::Status BrokenRule(absl::string_view call, const Parts&... rule) {
  return absl::InternalError(absl::StrCat(call, ": the engine ", rule...));
}

inline absl::Status WrotePastTheEnd(absl::string_view call) {
  return BrokenRule(call, "wrote past the end of what it was given");
}

// Calls a plug-in's function: `call` is sfl_status(sfl_error*). The result is the Status that the
// plug-in meant, its text preceded by `what`. An exception, which none may let out, is Internal.
template <typename Call>
absl::Status CallPlugin(absl::string_view what, ErrorBuffer& error, Call&& call) {
  sfl_status code = SFL_INTERNAL;
  try {
    code = call(error.Prepare());
  } catch (...) {
    return absl::InternalError(StatusFromCurrentException(what).message());
  }
  return error.ToStatus(what, code);
}

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_PLUGIN_CALL_H_
