#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_SPEECH_EXCHANGE_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_SPEECH_EXCHANGE_H_

#include <functional>
#include <memory>

#include "tools/superfluidd/api/speech_answer.h"
#include "tools/superfluidd/api/speech_form.h"
#include "tools/superfluidd/fleet/speech_service.h"
#include "tools/superfluidd/http/exchange.h"

namespace superfluid::daemon {

// Hears how requests end, for logs and metrics. Thread-safe; must be quick.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  virtual void OnRequestEnded(const SpeechRequest& request, const RequestOutcome& outcome) = 0;
};

// One upload between its client and the fleet: makes the response from what the request reports. A
// stream is an event stream from its admission on; a refusal before that is an ordinary error.
//
// Threads: the listener's functions on the fleet's, OnHangUp on the loop's.
class SpeechExchange final : public Exchange,
                             public RequestListener,
                             public std::enable_shared_from_this<SpeechExchange> {
 public:
  SpeechExchange(SpeechForm form, SpeechRequest request, std::shared_ptr<ResponseSink> sink,
                 std::shared_ptr<RequestObserver> observer);

  // Submits the request. Once.
  void Start(SpeechService& service);

  void OnHangUp() override;
  void OnAdmitted() override;
  void OnSegment(const linkw::TranscribeSegment& segment) override;
  void OnEnded(const RequestOutcome& outcome) override;

 private:
  void EndStream(const RequestOutcome& outcome);

  const SpeechForm form_;
  const SpeechRequest request_;
  const std::shared_ptr<ResponseSink> sink_;
  const std::shared_ptr<RequestObserver> observer_;
  std::unique_ptr<RequestHandle> handle_;  // the loop's
  DeltaText text_;                         // these two are the fleet's
  bool streaming_ = false;
};

// Returns the headers that say what a request cost: its queue and processing times, and for one
// that was cancelled how long that took and the engine steps after it.
HeaderList CostHeaders(const RequestOutcome& outcome);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_SPEECH_EXCHANGE_H_
