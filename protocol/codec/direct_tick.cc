#include "protocol/codec/direct_tick.h"

#include "protocol/codec/back_writer.h"
#include "protocol/codec/direct_reader.h"
#include "protocol/codec/direct_writer.h"

namespace superfluid::linkw {
namespace {

// The buffer is of use within this call only, so whose thread it is does not matter.
template <class Message>
std::string WriteInto(const Message& message, size_t room) {
  static thread_local BackWriter out;
  out.Clear();
  direct::DirectWriter(out).Write(message);
  out.Space(room);
  return out.ToString();
}

}  // namespace

bool ReadDirect(std::string_view payload, TickSubmit& message) {
  return direct::DirectReader().Read(payload, message);
}

bool ReadDirect(std::string_view payload, TickResult& message) {
  return direct::DirectReader().Read(payload, message);
}

bool ReadDirect(std::string_view payload, TickEmit& message) {
  return direct::DirectReader().Read(payload, message);
}

std::string WriteDirect(const TickSubmit& message, size_t room) { return WriteInto(message, room); }

std::string WriteDirect(const TickResult& message, size_t room) { return WriteInto(message, room); }

std::string WriteDirect(const TickEmit& message, size_t room) { return WriteInto(message, room); }

}  // namespace superfluid::linkw
