#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_TRACE_CONTEXT_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_TRACE_CONTEXT_H_

#include <string_view>

#include "tools/superfluidd/http/http_message.h"

namespace superfluid::daemon {

// Returns the place of a request in its trace, by W3C Trace Context: a span of its own in the trace
// that `traceparent` names, or in a new trace if that is missing or wrong. Thread-safe.
TraceContext TraceContextOf(std::string_view traceparent);

// Returns so many random bytes in lower-case hexadecimal. Thread-safe.
std::string RandomHex(size_t bytes);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_TRACE_CONTEXT_H_
