#ifndef SUPERFLUID_PROTOCOL_CODEC_TICK_LAYOUT_H_
#define SUPERFLUID_PROTOCOL_CODEC_TICK_LAYOUT_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "protocol/codec/wire_reader.h"
#include "protocol/messages/memory_messages.h"
#include "protocol/messages/state_op_messages.h"
#include "protocol/messages/tick_messages.h"

// Where the fields of a tick's messages are: each number of linkw.proto with its member and its
// bounds, once for the direct reader and the direct writer. Internal to the codecs;
// tick_layout_test holds every line against the schema.
namespace superfluid::linkw::direct {

// Which values a field may have, as its rule in linkw.proto says.
struct Bounds {
  bool required = false;
  bool left_out_if_empty = false;  // a message that the writer leaves out if it says nothing
  uint32_t least = 0;              // of a closed enum
  uint32_t most = 0;
  uint32_t max_count = 0;  // of a list
  uint32_t max_bytes = 0;  // of text
};

enum class Form : uint8_t {
  kNumber32,
  kNumber64,
  kBool,
  kFloat,
  kClosedEnum,
  kStatus,
  kText,
  kTokens,
  kMessage,
  kMessages
};

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

// The form follows from the member's type: enums of one byte are closed, wider ones are ids.
template <class T>
constexpr Form FormOf() {
  if constexpr (std::same_as<T, bool>) return Form::kBool;
  if constexpr (std::same_as<T, float>) return Form::kFloat;
  if constexpr (std::same_as<T, Status>) return Form::kStatus;
  if constexpr (std::same_as<T, std::string>) return Form::kText;
  if constexpr (std::same_as<T, std::vector<Token>>) return Form::kTokens;
  if constexpr (kIsVector<T>) return Form::kMessages;
  if constexpr (std::is_class_v<T>) return Form::kMessage;
  if constexpr (sizeof(T) == 1) return Form::kClosedEnum;
  return sizeof(T) == 8 ? Form::kNumber64 : Form::kNumber32;
}

constexpr WireType WireTypeOf(Form form) {
  switch (form) {
    case Form::kFloat:
      return WireType::kFixed32;
    case Form::kText:
    case Form::kTokens:
    case Form::kMessage:
    case Form::kMessages:
      return WireType::kDelimited;
    default:
      return WireType::kVarint;
  }
}

template <class Owner, class T>
T MemberType(T Owner::*member);

template <uint32_t Number, auto Member, Bounds Limits = Bounds{}>
struct Field {
  using Type = decltype(MemberType(Member));
  static constexpr uint32_t kNumber = Number;
  static constexpr auto kMember = Member;
  static constexpr Bounds kBounds = Limits;
  static constexpr Form kForm = FormOf<Type>();
  static constexpr uint32_t kTag = kNumber << 3 | static_cast<uint32_t>(WireTypeOf(kForm));
  // A list of numbers may come packed (kTag) or element by element.
  static constexpr uint32_t kElementTag = kNumber << 3;
  static_assert(kNumber >= 1 && kTag < 0x80, "tags of one byte only");

  static constexpr bool HasTag(uint32_t tag) {
    if constexpr (kForm == Form::kTokens) return tag == kTag || tag == kElementTag;
    return tag == kTag;
  }
};

// In the order of their numbers, in which a writer has them.
template <class... F>
struct FieldList {};

template <class Message>
struct LayoutOf;

template <class Message>
using FieldsOf = typename LayoutOf<Message>::Fields;

template <class Message>
concept HasLayout = requires {
  typename LayoutOf<Message>::Fields;
};

template <>
struct LayoutOf<TokenSpan> {
  using Fields = FieldList<Field<1, &TokenSpan::ring_id>, Field<2, &TokenSpan::slot>,
                           Field<3, &TokenSpan::generation>, Field<4, &TokenSpan::offset>,
                           Field<5, &TokenSpan::count>>;
};

template <>
struct LayoutOf<Sampling> {
  using Fields = FieldList<Field<1, &Sampling::temperature>, Field<2, &Sampling::top_k>,
                           Field<3, &Sampling::top_p>, Field<4, &Sampling::min_p>,
                           Field<5, &Sampling::repetition_penalty>, Field<6, &Sampling::seed>>;
};

template <>
struct LayoutOf<Lane> {
  using Fields = FieldList<
      Field<1, &Lane::lane_tag>, Field<2, &Lane::sequence>, Field<3, &Lane::input>,
      Field<4, &Lane::kind, Bounds{.required = true, .least = 1, .most = 3}>,
      Field<5, &Lane::max_tokens>, Field<6, &Lane::sampling>, Field<7, &Lane::grammar_handle>,
      Field<8, &Lane::logit_bias_handle>, Field<9, &Lane::stop_tokens, Bounds{.max_count = 256}>,
      Field<10, &Lane::strategy_slot>, Field<11, &Lane::draft_tokens, Bounds{.max_count = 1024}>,
      Field<12, &Lane::want_logits>, Field<13, &Lane::stop_slot>>;
};

template <>
struct LayoutOf<TickPlan> {
  using Fields = FieldList<Field<1, &TickPlan::tick_id>, Field<2, &TickPlan::flags>,
                           Field<3, &TickPlan::deadline_us>,
                           Field<4, &TickPlan::lanes, Bounds{.max_count = 256}>>;
};

template <>
struct LayoutOf<TickSubmit> {
  using Fields = FieldList<Field<1, &TickSubmit::plan, Bounds{.required = true}>>;
};

template <>
struct LayoutOf<LaneEvent> {
  using Fields = FieldList<Field<1, &LaneEvent::lane_tag>, Field<2, &LaneEvent::out>,
                           Field<3, &LaneEvent::logits, Bounds{.left_out_if_empty = true}>,
                           Field<4, &LaneEvent::finish_reason, Bounds{.most = 4}>,
                           Field<5, &LaneEvent::sequence>, Field<6, &LaneEvent::position>,
                           Field<7, &LaneEvent::accepted_drafts>, Field<8, &LaneEvent::status>,
                           Field<9, &LaneEvent::message, Bounds{.max_bytes = 1024}>>;
};

template <>
struct LayoutOf<StateOpDone> {
  using Fields =
      FieldList<Field<1, &StateOpDone::op_handle>,
                Field<2, &StateOpDone::state, Bounds{.required = true, .least = 1, .most = 3}>,
                Field<3, &StateOpDone::error>,
                Field<4, &StateOpDone::message, Bounds{.max_bytes = 16384}>,
                Field<5, &StateOpDone::bytes_moved>>;
};

template <>
struct LayoutOf<MemCounters> {
  using Fields = FieldList<
      Field<1, &MemCounters::allocated_bytes>, Field<2, &MemCounters::host_retained_bytes>,
      Field<3, &MemCounters::pool_blocks_total>, Field<4, &MemCounters::pool_blocks_used>,
      Field<5, &MemCounters::pool_bytes_evictable>, Field<6, &MemCounters::tentative_bytes>>;
};

template <>
struct LayoutOf<TickTimings> {
  using Fields = FieldList<Field<1, &TickTimings::queue_us>, Field<2, &TickTimings::engine_us>>;
};

template <>
struct LayoutOf<TickEvents> {
  using Fields = FieldList<
      Field<1, &TickEvents::tick_id>, Field<2, &TickEvents::lanes, Bounds{.max_count = 256}>,
      Field<3, &TickEvents::op_completions, Bounds{.max_count = 256}>, Field<4, &TickEvents::mem>,
      Field<5, &TickEvents::timings>, Field<6, &TickEvents::dropped_emits>>;
};

template <>
struct LayoutOf<TickResult> {
  using Fields = FieldList<Field<1, &TickResult::status>,
                           Field<2, &TickResult::message, Bounds{.max_bytes = 16384}>,
                           Field<3, &TickResult::events>>;
};

template <>
struct LayoutOf<TickEmit> {
  using Fields =
      FieldList<Field<1, &TickEmit::tick_id>, Field<2, &TickEmit::lane_tag>,
                Field<3, &TickEmit::tokens, Bounds{.max_count = 4096}>, Field<4, &TickEmit::index>>;
};

}  // namespace superfluid::linkw::direct

#endif  // SUPERFLUID_PROTOCOL_CODEC_TICK_LAYOUT_H_
