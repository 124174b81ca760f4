#ifndef SUPERFLUID_PROTOCOL_CODEC_CONVERT_COMMON_H_
#define SUPERFLUID_PROTOCOL_CODEC_CONVERT_COMMON_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/linkw.pb.h"
#include "protocol/messages/memory_messages.h"
#include "protocol/messages/session_messages.h"
#include "protocol/messages/state_op_messages.h"
#include "protocol/messages/status.h"
#include "protocol/messages/text.h"
#include "protocol/messages/token_span.h"

// Between plain structs and Protobuf objects: ToProto and FromProto, overloaded, one pair a
// message. Internal to the codecs. FromProto takes objects whose bytes passed the wire scan, so
// lengths, counts and enum values are right; it may empty them.
namespace superfluid::linkw {

// The limits that linkw.proto states for texts of the worker's.
inline constexpr size_t kMaxMessageBytes = 16384;
inline constexpr size_t kMaxNameBytes = 256;

inline v8::Status ToProto(Status status) { return static_cast<v8::Status>(status); }
inline Status FromProto(v8::Status status) { return StatusFromWire(static_cast<uint32_t>(status)); }

// What says why a request was refused; the worker must never send one that cannot be read.
inline std::string MessageText(std::string_view text) { return ToUtf8(text, kMaxMessageBytes); }

template <typename Bytes>  // Hash or LinkToken
std::string ToWireBytes(const Bytes& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

template <typename Bytes>
Bytes FromWireBytes(std::string_view wire) {
  Bytes bytes{};
  std::copy_n(wire.begin(), std::min(wire.size(), bytes.size()), bytes.begin());
  return bytes;
}

// The underlying number of an id or another enum.
template <typename Id>
constexpr auto Raw(Id id) {
  return static_cast<std::underlying_type_t<Id>>(id);
}

template <typename T, typename Repeated>
std::vector<T> ToVector(const Repeated& repeated) {
  return std::vector<T>(repeated.begin(), repeated.end());
}

// `convert` of each element: pass FromProto, and its overload is the one for T.
template <typename T, typename Repeated>
std::vector<T> ConvertEach(Repeated& repeated, T (*convert)(typename Repeated::value_type&&)) {
  std::vector<T> result;
  result.reserve(static_cast<size_t>(repeated.size()));
  for (auto& element : repeated) result.push_back(convert(std::move(element)));
  return result;
}

// ToProto of each element, appended.
template <typename T, typename Repeated>
void AddEach(const std::vector<T>& elements, Repeated* repeated) {
  repeated->Reserve(static_cast<int>(elements.size()));
  for (const T& element : elements) *repeated->Add() = ToProto(element);
}

v8::TokenSpan ToProto(const TokenSpan& span);
TokenSpan FromProto(v8::TokenSpan&& proto);

v8::TokenRange ToProto(const TokenRange& range);
TokenRange FromProto(v8::TokenRange&& proto);

v8::BufferSpan ToProto(const BufferSpan& span);
BufferSpan FromProto(v8::BufferSpan&& proto);

v8::MemCounters ToProto(const MemCounters& mem);
MemCounters FromProto(v8::MemCounters&& proto);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_CONVERT_COMMON_H_
