#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_REALTIME_SOCKET_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_REALTIME_SOCKET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/superfluidd/api/api_keys.h"
#include "tools/superfluidd/api/model_catalog.h"
#include "tools/superfluidd/api/realtime_protocol.h"
#include "tools/superfluidd/api/speech_answer.h"
#include "tools/superfluidd/api/speech_exchange.h"
#include "tools/superfluidd/api/voice_detector.h"
#include "tools/superfluidd/fleet/speech_service.h"
#include "tools/superfluidd/http/exchange.h"
#include "tools/superfluidd/http/websocket.h"
#include "tools/superfluidd/net/io_loop.h"

namespace superfluid::daemon {

struct RealtimeContext {
  IoLoop* loop = nullptr;  // these two outlive the socket
  SpeechService* service = nullptr;
  std::shared_ptr<RequestObserver> observer;
  ModelCatalog models;
  Caller caller;
  std::string session_id;
  TraceContext trace;
  std::string model;  // of the query; empty: the first
};

// One WebSocket of /v1/realtime: live audio in, transcripts out, turn by turn.
//
// A turn is one live request. It begins with the first audio (or where the voice begins, with turn
// detection) and ends with the commit (or where the voice ends); its transcript follows. Audio goes
// to the worker while the client speaks, no more than kMaxLeadMs ahead of what was consumed.
//
// Threads: the loop's. Reports of requests are posted there.
class RealtimeSocket final : public UpgradedSocket,
                             public WebSocketSink,
                             public std::enable_shared_from_this<RealtimeSocket> {
 public:
  static constexpr int64_t kMaxLeadMs = 15'000;
  static constexpr size_t kMaxWaitingBytes = size_t{32} << 20;  // of audio for a worker
  static constexpr size_t kMaxMessageBytes = size_t{16} << 20;

  RealtimeSocket(RealtimeContext context, std::shared_ptr<ResponseSink> sink);
  // Greets the client. Once, first.
  void Start();

  void OnBytes(std::string_view bytes) override;
  void OnHangUp() override;
  void OnDrain() override;

  void OnText(std::string_view message) override;
  void OnBinary(std::string_view message) override;
  void OnPing(std::string_view payload) override;
  void OnClose(WebSocketCode code, std::string_view reason) override;

 private:
  struct Turn {
    std::string item_id;
    std::unique_ptr<RequestHandle> handle;
    DeltaText text;
    std::string waiting;  // audio that goes out later
    int64_t sent_ms = 0;
    int64_t consumed_ms = 0;
    bool ended = false;  // no audio follows
    bool end_sent = false;
    bool cleared = false;  // the client wants no transcript
  };
  class Listener;

  // ---- Events of the client
  void On(const UpdateSession& update);
  void On(const AppendAudio& append);
  void On(const CommitAudio& commit);
  void On(const ClearAudio& clear);

  // ---- Turns
  void Hear(std::string samples);
  void HearFrame(std::string_view frame);
  Turn& BeginTurn();
  void EndTurn();
  void Pump(Turn& turn);
  void OnSegment(uint64_t number, const linkw::TranscribeSegment& segment);
  void OnAudio(uint64_t number, int64_t audio_ms);
  void OnEnded(uint64_t number, const RequestOutcome& outcome);
  void Complete(Turn& turn, const RequestOutcome& outcome);
  Turn* current();

  // ---- Saying something
  void Send(Json event);
  void SendDelta(const Turn& turn, const std::string& delta,
                 const linkw::TranscriptSegment* segment);
  void SendError(const ApiError& error, const std::string& event_id = "");
  void Close(WebSocketCode code, std::string_view reason);
  void CancelAll(CancelCause cause);
  void Beat();
  int64_t MsOf(size_t bytes) const;

  const RealtimeContext context_;
  const std::shared_ptr<ResponseSink> sink_;
  WebSocketReader reader_;
  RealtimeSettings settings_;
  Dialect dialect_ = Dialect::kOpenAi;
  std::optional<VoiceDetector> voice_;
  std::string frame_;    // samples that are no whole frame yet
  std::string padding_;  // the last quiet audio
  std::map<uint64_t, Turn> turns_;
  uint64_t next_turn_ = 1;
  uint64_t current_ = 0;  // the turn that audio goes to; 0: none
  std::string last_item_;
  uint64_t next_event_ = 1;
  std::unique_ptr<LoopTimer> beat_;
  bool heard_ = true;  // from the client since the last beat
  bool closed_ = false;
  bool draining_ = false;
};

// Returns the subprotocol to choose from those that a client offers: "realtime", or none.
std::string ChooseProtocol(const RequestHead& head);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_REALTIME_SOCKET_H_
