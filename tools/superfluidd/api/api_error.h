#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_API_ERROR_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_API_ERROR_H_

#include <string>
#include <string_view>

#include "protocol/messages/status.h"
#include "tools/ctl/formats/json_text.h"
#include "tools/superfluidd/fleet/speech_service.h"
#include "tools/superfluidd/http/http_message.h"

namespace superfluid::daemon {

using ctl::Json;

// An error in the form that OpenAI's clients know.
struct ApiError {
  int status = 400;
  std::string message;
  std::string type = "invalid_request_error";
  std::string code;   // empty: null
  std::string param;  // the field that is wrong; empty: null
};

// {"error":{"message":...,"type":...,"param":...,"code":...}}
Json ErrorJson(const ApiError& error);

HttpReply ErrorReply(const ApiError& error);

// Returns a JSON body; bytes that are not UTF-8 become U+FFFD.
HttpReply JsonReply(int status, const Json& json);

// The error for a request whose `model` is none that is served.
ApiError ModelNotFound(std::string message);

// Returns the error for a request that ended badly. REQUIRES: the outcome's status is not kOk.
// 499 (as in proxies) means cancelled: a status that no client repeats by itself.
ApiError ErrorOf(const RequestOutcome& outcome);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_API_ERROR_H_
