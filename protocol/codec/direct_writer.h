#ifndef SUPERFLUID_PROTOCOL_CODEC_DIRECT_WRITER_H_
#define SUPERFLUID_PROTOCOL_CODEC_DIRECT_WRITER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "protocol/codec/back_writer.h"
#include "protocol/codec/tick_layout.h"
#include "protocol/messages/text.h"

namespace superfluid::linkw::direct {

// Writes a struct that has a layout as Protobuf would: the same bytes. Text is a worker's: made
// UTF-8 and cut at its limit. Internal to the codecs.
class DirectWriter {
 public:
  explicit DirectWriter(BackWriter& out) : out_(out) {}

  template <class Message>
  void Write(const Message& message) {
    Fields(message, FieldsOf<Message>{});
  }

 private:
  // The last field first.
  template <class Message, class First, class... Rest>
  void Fields(const Message& message, FieldList<First, Rest...> /*fields*/) {
    if constexpr (sizeof...(Rest) > 0) Fields(message, FieldList<Rest...>{});
    Put<First>(message.*First::kMember);
  }

  template <class F>
  void Put(const typename F::Type& value) {
    if constexpr (F::kForm == Form::kFloat) {
      const auto bits = std::bit_cast<uint32_t>(value);
      if (bits == 0) return;
      out_.Fixed32(bits);
      Tag<F>();
    } else if constexpr (F::kForm == Form::kText) {
      if (value.empty()) return;
      const std::string text = ToUtf8(value, F::kBounds.max_bytes);
      const size_t before = out_.size();
      out_.Bytes(text);
      if (!text.empty()) End<F>(before);
    } else if constexpr (F::kForm == Form::kTokens) {
      if (value.empty()) return;
      const size_t before = out_.size();
      for (size_t i = value.size(); i-- > 0;) out_.Varint(value[i]);
      End<F>(before);
    } else if constexpr (F::kForm == Form::kMessage) {
      if (F::kBounds.left_out_if_empty && value == typename F::Type{}) return;
      Message<F>(value);
    } else if constexpr (F::kForm == Form::kMessages) {
      for (size_t i = value.size(); i-- > 0;) Message<F>(value[i]);
    } else {
      const uint64_t number = NumberOf(value);
      if (number == 0) return;
      out_.Varint(number);
      Tag<F>();
    }
  }

  template <class F, class Part>
  void Message(const Part& part) {
    const size_t before = out_.size();
    Write(part);
    End<F>(before);
  }

  // Puts length and tag before what was written since `before`.
  template <class F>
  void End(size_t before) {
    out_.Varint(out_.size() - before);
    Tag<F>();
  }

  template <class F>
  void Tag() {
    out_.Tag(static_cast<uint8_t>(F::kTag));
  }

  // Protobuf's enums have a sign.
  static uint64_t NumberOf(Status status) {
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(status)));
  }
  template <class Number>
  static uint64_t NumberOf(Number number) {
    return static_cast<uint64_t>(number);
  }

  BackWriter& out_;
};

}  // namespace superfluid::linkw::direct

#endif  // SUPERFLUID_PROTOCOL_CODEC_DIRECT_WRITER_H_
