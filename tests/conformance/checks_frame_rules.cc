// Framing: what a type and a payload must be.

#include <limits>
#include <string>
#include <vector>

#include "tests/conformance/families.h"
#include "tests/conformance/link.h"
#include "tests/conformance/wire.h"

namespace superfluid::conformance {
namespace {

using linkw::MessageType;

void UnknownDroppable(Context& context) {
  Link link(context);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100'000}}) {
    const uint64_t seq = link.peer().SendFrame(0x8777, std::string(size, '\xff'));
    link.ExpectSilent(seq, "an unknown droppable type");
  }
}

void UnknownRequired(Context& context) {
  Link link(context);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1'000'000}}) {
    const uint64_t seq = link.peer().SendFrame(0x0777, std::string(size, '\xff'));
    link.ExpectRefused(seq, {Status::kUnimplemented}, "an unknown required type");
  }
}

void TheOtherWay(Context& context) {
  Link link(context);
  for (const MessageType type :
       {MessageType::kHelloAck, MessageType::kError, MessageType::kRingAck,
        MessageType::kControlAck, MessageType::kTickResult, MessageType::kMatchResult,
        MessageType::kSeedGrant, MessageType::kStateOpAccepted, MessageType::kStateOpDone,
        MessageType::kStateSyncResult, MessageType::kTranscribeSegment, MessageType::kStrategyGrant,
        MessageType::kBufAlloced, MessageType::kPong, MessageType::kDrained}) {
    link.ExpectRefused(link.peer().SendFrame(static_cast<uint16_t>(type), ""),
                       {Status::kUnimplemented}, linkw::MessageTypeName(type));
  }
  for (const MessageType type : {MessageType::kTickEmit, MessageType::kTranscribeProgress}) {
    link.ExpectSilent(link.peer().SendFrame(static_cast<uint16_t>(type), "any"),
                      linkw::MessageTypeName(type));
  }
}

void NoMessage(Context& context) {
  struct Case {
    MessageType type;
    std::string payload;
  };
  const std::string endless(20, '\xff');
  for (const Case& c : {
           Case{MessageType::kPing, "\xff"},  // a tag without an end
           Case{MessageType::kTickSubmit,
                "\x0a\x7f"
                "abc"},                                            // a length beyond the end
           Case{MessageType::kStateSyncRequest, endless},          // a varint without an end
           Case{MessageType::kRingAttach, "\x0b"},                 // a group
           Case{MessageType::kBufAttach, VarintField(0, 1)},       // field number 0
           Case{MessageType::kDrainRequest, std::string("\x0f")},  // wire type 7
       }) {
    Link link(context);
    link.peer().SendFrame(static_cast<uint16_t>(c.type), c.payload);
    link.ExpectLinkError({Status::kProtocolError});
  }
}

// A member of the oneof in STATE_SYNC_REQ.
std::string CallBytes(uint32_t number, std::string_view call) { return BytesField(number, call); }

// TickSubmit { plan { lane... } }
std::string TickBytes(std::string_view plan) { return BytesField(1, plan); }

void ExpectInvalid(Link& link, MessageType type, std::string_view payload, std::string_view what) {
  link.ExpectRefused(link.peer().SendFrame(static_cast<uint16_t>(type), payload),
                     {Status::kInvalidArgument}, what);
}

void RulesOfCalls(Context& context) {
  Link link(context);
  const auto invalid = [&link](uint32_t number, const std::string& call, std::string_view what) {
    ExpectInvalid(link, MessageType::kStateSyncRequest, CallBytes(number, call), what);
  };
  using std::string_literals::operator""s;
  invalid(10, BytesField(1, "{\"a\0b\":1}"s), "a NUL in a schema");
  invalid(10, BytesField(1, "\xff\xfe"), "a schema that is not UTF-8");
  invalid(11, BytesField(1, "\xc0\x80"), "an overlong form of UTF-8");
  invalid(17, BytesField(1, "/tmp/a\0b"s), "a NUL in a path");
  invalid(17, BytesField(1, std::string(4097, 'a')), "a path of 4097 bytes");
  invalid(22, BytesField(1, "/tmp/\0"s), "a NUL at the end of a path");
  invalid(5,
          BytesField(1, BytesField(1, std::string(31, 'k')) + BytesField(2, std::string(32, 'k'))),
          "a key of 31 bytes");
  invalid(5, BytesField(1, BytesField(1, std::string(32, 'k'))), "a key without a digest");
  invalid(16, BytesField(1, "/tmp/x\0y"s), "a NUL in the path of a transcription");
  invalid(16, BytesField(1, "/x") + BytesField(4, "\xff"), "a language that is not UTF-8");
  invalid(16, BytesField(3, VarintField(1, 16000) + VarintField(2, 1)), "PCM without a format");
  invalid(16, BytesField(3, VarintField(1, 16000) + VarintField(2, 1) + VarintField(3, 9)),
          "PCM in a format without a name");
}

void RulesOfTicks(Context& context) {
  Link link(context);
  const auto lane = [](const std::string& more) { return BytesField(4, VarintField(5, 1) + more); };
  const auto invalid = [&link](const std::string& plan, std::string_view what) {
    ExpectInvalid(link, MessageType::kTickSubmit, TickBytes(plan), what);
  };
  ExpectInvalid(link, MessageType::kTickSubmit, "", "a tick without a plan");
  invalid(lane(""), "a lane without a kind");
  invalid(lane(VarintField(4, 9)), "a lane of a kind without a name");
  std::string stops;
  for (int i = 0; i < 257; ++i) stops += Varint(1);
  invalid(lane(VarintField(4, 2) + BytesField(9, stops)), "257 stop tokens");
  std::string drafts;
  for (int i = 0; i < 1025; ++i) drafts += Varint(1);
  invalid(lane(VarintField(4, 3) + BytesField(11, drafts)), "1025 drafts");
  std::string lanes;
  for (int i = 0; i < 257; ++i) lanes += BytesField(4, VarintField(1, 1) + VarintField(4, 2));
  invalid(lanes, "257 lanes");
}

void RulesOfNumbers(Context& context) {
  Link link(context);
  for (const uint32_t bits : {0x7fc00000u, 0x7f800000u, 0xff800000u}) {
    for (const uint32_t field : {1u, 3u, 4u, 5u}) {
      const std::string lane =
          VarintField(4, 2) + VarintField(5, 1) + BytesField(6, Fixed32Field(field, bits));
      ExpectInvalid(link, MessageType::kTickSubmit, TickBytes(BytesField(4, lane)),
                    "a number that is not finite");
    }
  }
}

void UnknownFields(Context& context) {
  Link link(context);
  const std::string unknown = VarintField(61, 5) + BytesField(60, "whatever") + Fixed32Field(59, 1);
  link.peer().Await<linkw::Pong>(
      link.peer().SendFrame(static_cast<uint16_t>(MessageType::kPing), unknown));
  const auto result = link.peer().Await<linkw::StateSyncResult>(link.peer().SendFrame(
      static_cast<uint16_t>(MessageType::kStateSyncRequest), CallBytes(20, unknown) + unknown));
  ExpectEq(result.status, Status::kOk, "CAPABILITIES with unknown fields");
}

void CountsAreCapped(Context& context) {
  Link link(context);
  // Half a million empty sub-messages in a megabyte.
  std::string keys;
  for (int i = 0; i < 500'000; ++i) keys += std::string("\x0a\x00", 2);
  ExpectInvalid(link, MessageType::kStateSyncRequest, CallBytes(5, keys), "500,000 keys");
}

}  // namespace

void AddFrameRuleChecks(std::vector<Check>& checks) {
  checks.push_back({"FRAME-9", "an unknown droppable type", UnknownDroppable});
  checks.push_back({"FRAME-10 ERR-1", "an unknown required type", UnknownRequired});
  checks.push_back({"FRAME-11", "a type that goes the other way", TheOtherWay});
  checks.push_back({"FRAME-12 FRAME-16", "a payload that is no message", NoMessage});
  checks.push_back({"FRAME-13 ERR-1", "state calls that break a field's rule", RulesOfCalls});
  checks.push_back({"FRAME-13 TICK-3 ERR-1", "ticks that break a field's rule", RulesOfTicks});
  checks.push_back({"FRAME-13 DRAW-12", "numbers that are not finite", RulesOfNumbers});
  checks.push_back({"FRAME-13 ALWAYS-3", "more elements than a list may have", CountsAreCapped});
  checks.push_back({"FRAME-14", "unknown fields", UnknownFields});
}

}  // namespace superfluid::conformance
