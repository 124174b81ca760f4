#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_SPEECH_SERVICE_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_SPEECH_SERVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "protocol/messages/messages.h"
#include "tools/superfluidd/upload/audio_body.h"

// The fleet of workers as the API sees it: plain values and callbacks, no actor, no socket.
namespace superfluid::daemon {

// One transcription that a client wants.
struct SpeechRequest {
  std::string id;        // unique among those that are open
  std::string trace_id;  // of the distributed trace, and of the request's span in it, for logs
  std::string span_id;
  std::string tenant;  // whose it is: requests of different tenants share the workers fairly
  std::string model;   // the name of a configured model
  std::shared_ptr<const AudioBody> audio;  // a recording; null: live audio
  linkw::PcmFormat live_format;            // of live audio
  std::string language;                    // empty: the engine's choice
  std::string prompt;
  bool translate = false;
  bool stream = false;    // segments as they are decoded, through OnSegment
  bool partials = false;  // segments that may still change, too
  int priority = 0;       // higher first
  absl::Duration deadline = absl::InfiniteDuration();  // from Submit to the end
};

enum class CancelCause { kHangUp, kDeleted, kDeadline, kShutDown };

// "hang-up", "deleted", "deadline", "shut down".
std::string_view CancelCauseName(CancelCause cause);

// When things happened, from Submit on, and how often.
struct RequestFigures {
  absl::Duration queued;                        // until a worker had it, for the last time
  absl::Duration total;                         // to the end
  std::optional<absl::Duration> first_segment;  // to the first that was passed on
  std::optional<absl::Duration> cancel;         // from the cancel to the end
  std::optional<CancelCause> cause;             // of the cancel
  uint32_t attempts = 0;                        // workers that had it; 0: none
  std::string worker;                           // the last of them
};

struct RequestOutcome {
  linkw::Status status = linkw::Status::kOk;
  std::string message;  // what went wrong; with kOk a remark on the audio, or empty
  std::string param;    // the field of the form that is wrong; empty: none, or not known
  linkw::TranscribeResult
      result;  // with kCancelled and kDeadlineExceeded: of the part that was done
  RequestFigures figures;
  absl::Duration retry_after;  // with kBusy before any worker had it: when to come again
};

// Hears of one request. Called on threads of the service, one call at a time; must be quick and
// must not block. The last call is OnEnded, which comes exactly once.
class RequestListener {
 public:
  virtual ~RequestListener() = default;
  // The request has a place in the queue, or a worker already.
  virtual void OnAdmitted() {}
  // `segment`: of a request with `stream`.
  virtual void OnSegment(const linkw::TranscribeSegment& segment) = 0;
  // So much live audio has been consumed.
  virtual void OnAudio(int64_t /*audio_ms*/) {}
  virtual void OnEnded(const RequestOutcome& outcome) = 0;
};

// An open request in the hands of whoever submitted it. Thread-safe; never blocks. Destroying it
// changes nothing.
class RequestHandle {
 public:
  virtual ~RequestHandle() = default;
  // Stops it: OnEnded follows soon, unless it came already.
  virtual void Cancel(CancelCause cause) = 0;
  // The next samples of live audio; `end`: there are no more. REQUIRES: the request is live.
  virtual void PushAudio(std::string samples, bool end) = 0;
};

// What one worker is doing.
struct WorkerView {
  std::string name;
  std::string model;
  std::string state;  // "starting", "ready", "stalled", "waiting" (for its restart), "ended"
  std::string engine;
  int pid = 0;
  uint32_t places = 0;  // requests at once
  uint32_t active = 0;
  uint64_t restarts = 0;
  std::string last_end;  // why the last process ended
  linkw::Pong pong;      // the last one
};

// What is open, for people.
struct RequestView {
  std::string id;
  std::string model;
  std::string worker;  // empty: it waits
  absl::Duration age;
  double estimated_seconds = 0;  // of audio
  bool live = false;
};

struct FleetView {
  std::vector<WorkerView> workers;
  std::vector<RequestView> requests;
  size_t queued = 0;
  size_t active = 0;
  bool draining = false;
};

// Whether and how the fleet works right now, without asking any actor.
struct FleetSummary {
  size_t workers = 0;
  size_t ready = 0;  // workers that would take a request
  size_t queued = 0;
  size_t active = 0;
  bool queue_full = false;
  absl::Duration retry_after;  // when to come again, if the queue is full
  bool draining = false;
};

class SpeechService {
 public:
  virtual ~SpeechService() = default;

  // Starts a request. `listener` is kept until OnEnded.
  virtual std::unique_ptr<RequestHandle> Submit(SpeechRequest request,
                                                std::shared_ptr<RequestListener> listener) = 0;

  // Cancels the request with this id if it is this tenant's; tells whether there was one. `done` is
  // called on a thread of the service.
  virtual void CancelById(std::string id, std::string tenant, CancelCause cause,
                          std::function<void(bool found)> done) = 0;

  // Gives a picture of everything to `done`, on a thread of the service.
  virtual void Describe(std::function<void(FleetView)> done) = 0;

  // Returns the newest picture of the whole. Thread-safe, cheap.
  virtual FleetSummary Summary() const = 0;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_SPEECH_SERVICE_H_
