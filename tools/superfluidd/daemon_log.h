#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_LOG_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_LOG_H_

#include <memory>
#include <string>

#include "tools/superfluidd/api/speech_exchange.h"
#include "tools/superfluidd/http/exchange.h"
#include "tools/worker/log_line.h"
#include "tools/worker/log_writer.h"

namespace superfluid::daemon {

// What the daemon writes down: events on standard error, one line each, as workers do; and the
// access log on standard output, one JSON object a line. Nobody who logs waits for a reader.
// Thread-safe.
class DaemonLog {
 public:
  // `events`: how lines about events look.
  explicit DaemonLog(LogFormat events);

  // "TIME info worker.ready worker=worker-0 ...", or an object of that. `details`: key=value ...
  void Event(const char* event, const std::string& details);
  // {"time":...,"event":"http",...}
  void Access(const AccessRecord& record, const std::string& tenant);
  // {"time":...,"event":"request",...}: the end of a transcription, with what it cost.
  void Request(const SpeechRequest& request, const RequestOutcome& outcome);

  void Flush();

 private:
  const LogFormat format_;
  LogWriter events_;
  LogWriter access_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_LOG_H_
