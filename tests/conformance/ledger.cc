#include "tests/conformance/ledger.h"

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/conformance/check.h"
#include "tests/conformance/show.h"

namespace superfluid::conformance {
namespace {

using linkw::MessageType;

// The answer that a request of this type gets when it is not an ERROR; kError: none.
MessageType AnswerOf(MessageType request) {
  switch (request) {
    case MessageType::kHello:
      return MessageType::kHelloAck;
    case MessageType::kRingAttach:
      return MessageType::kRingAck;
    case MessageType::kControlAttach:
      return MessageType::kControlAck;
    case MessageType::kTickSubmit:
      return MessageType::kTickResult;
    case MessageType::kMatchRequest:
      return MessageType::kMatchResult;
    case MessageType::kSeedAcquire:
      return MessageType::kSeedGrant;
    case MessageType::kStateOpSubmit:
      return MessageType::kStateOpAccepted;
    case MessageType::kStateSyncRequest:
      return MessageType::kStateSyncResult;
    case MessageType::kStrategyRegister:
      return MessageType::kStrategyGrant;
    case MessageType::kBufAlloc:
      return MessageType::kBufAlloced;
    case MessageType::kPing:
      return MessageType::kPong;
    case MessageType::kDrainRequest:
      return MessageType::kDrained;
    default:
      return MessageType::kError;
  }
}

std::string Name(MessageType type) { return std::string(linkw::MessageTypeName(type)); }

}  // namespace

void Ledger::Answer(uint64_t correlation, MessageType type) {
  const auto request = sent_.find(correlation);
  if (request == sent_.end()) {
    Fail(absl::StrCat("[FRAME-6] ", Name(type), " is correlated with ", correlation,
                      ", which was never sent"));
  }
  if (type != MessageType::kError && AnswerOf(request->second) != type) {
    Fail(absl::StrCat("[FRAME-6] ", Name(type), " answers a ", Name(request->second)));
  }
  if (!answered_.insert(correlation).second) {
    Fail(absl::StrCat("[ALWAYS-1] a second answer, ", Name(type), ", to the ",
                      Name(request->second), " with seq ", correlation));
  }
}

void Ledger::OnAccepted(uint64_t correlation, const linkw::StateOpAccepted& accepted) {
  if (accepted.status != linkw::Status::kOk) return;
  Expect(accepted.op_handle != linkw::OpHandle{}, "[OP-1] an accepted op has the handle 0");
  Expect(ops_.emplace(accepted.op_handle, correlation).second,
         "[OP-1] the handle of an accepted op is that of an earlier one");
}

void Ledger::OnDone(uint64_t correlation, const linkw::StateOpDone& done) {
  const auto op = ops_.find(done.op_handle);
  Expect(op != ops_.end(), "[OP-1] STATE_OP_DONE for an op that was not accepted before");
  ExpectEq(correlation, op->second, "[OP-1] correlation of STATE_OP_DONE");
  Expect(done_.insert(done.op_handle).second, "[OP-1] a second STATE_OP_DONE for one op");
}

void Ledger::OnTickResult(const linkw::TickResult& result) {
  for (const linkw::StateOpDone& done : result.events.op_completions) {
    Expect(done_.contains(done.op_handle),
           "[OP-10] TICK_RESULT lists an op whose STATE_OP_DONE has not come");
    Expect(listed_.insert(done.op_handle).second, "[OP-10] an op is listed by two ticks");
  }
}

void Ledger::Received(uint64_t correlation, const linkw::WorkerMessage& message) {
  const MessageType type = linkw::TypeOf(message);
  if (type == MessageType::kTelemetry) return;
  if (type == MessageType::kTickEmit || type == MessageType::kTranscribeSegment ||
      type == MessageType::kTranscribeProgress) {
    Expect(sent_.contains(correlation),
           absl::StrCat("[FRAME-6] ", Name(type), " is correlated with ", correlation));
    Expect(!answered_.contains(correlation),
           absl::StrCat(type == MessageType::kTickEmit ? "[EMIT-2] " : "[STT-2] ", Name(type),
                        " after the answer of its request"));
    return;
  }
  if (const auto* done = std::get_if<linkw::StateOpDone>(&message)) {
    return OnDone(correlation, *done);
  }
  const auto* error = std::get_if<linkw::Error>(&message);
  if (error != nullptr) {
    Expect(error->status != linkw::Status::kOk, "[ERR-4] an ERROR with the status OK");
    if (error->fatal || correlation == 0) return;
  }
  Answer(correlation, type);
  if (const auto* accepted = std::get_if<linkw::StateOpAccepted>(&message)) {
    OnAccepted(correlation, *accepted);
  } else if (const auto* result = std::get_if<linkw::TickResult>(&message)) {
    OnTickResult(*result);
  }
}

}  // namespace superfluid::conformance
