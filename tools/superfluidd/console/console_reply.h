#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_CONSOLE_CONSOLE_REPLY_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_CONSOLE_CONSOLE_REPLY_H_

#include <optional>

#include "tools/superfluidd/http/http_message.h"

namespace superfluid::daemon {

// Returns the console's file that a request for "/" or "/console/NAME" means, with headers that let
// the page load nothing from elsewhere, run no script but its own, and be framed by nobody; 304
// where the browser has that file already. nullopt: there is no such file. Pure.
std::optional<HttpReply> ConsoleReply(const RequestHead& head);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_CONSOLE_CONSOLE_REPLY_H_
