#include "protocol/codec/tick_convert.h"

#include <utility>

#include "protocol/codec/convert_common.h"
#include "protocol/codec/state_op_convert.h"

namespace superfluid::linkw {
namespace {

constexpr size_t kMaxLaneMessageBytes = 1024;

void Write(const Sampling& sampling, v8::Sampling& proto) {
  proto.set_temperature(sampling.temperature);
  proto.set_top_k(sampling.top_k);
  proto.set_top_p(sampling.top_p);
  proto.set_min_p(sampling.min_p);
  proto.set_repetition_penalty(sampling.repetition_penalty);
  proto.set_seed(sampling.seed);
}

Sampling Read(const v8::Sampling& proto) {
  return {proto.temperature(),        proto.top_k(), proto.top_p(), proto.min_p(),
          proto.repetition_penalty(), proto.seed()};
}

void Write(const TickEvents& events, v8::TickEvents& proto) {
  proto.set_tick_id(events.tick_id);
  AddEach(events.lanes, proto.mutable_lanes());
  AddEach(events.op_completions, proto.mutable_op_completions());
  *proto.mutable_mem() = ToProto(events.mem);
  proto.mutable_timings()->set_queue_us(events.timings.queue_us);
  proto.mutable_timings()->set_engine_us(events.timings.engine_us);
  proto.set_dropped_emits(events.dropped_emits);
}

TickEvents Read(v8::TickEvents& proto) {
  TickEvents events;
  events.tick_id = proto.tick_id();
  events.lanes = ConvertEach<LaneEvent>(*proto.mutable_lanes(), FromProto);
  events.op_completions = ConvertEach<StateOpDone>(*proto.mutable_op_completions(), FromProto);
  events.mem = FromProto(std::move(*proto.mutable_mem()));
  events.timings = {proto.timings().queue_us(), proto.timings().engine_us()};
  events.dropped_emits = proto.dropped_emits();
  return events;
}

}  // namespace

v8::Lane ToProto(const Lane& lane) {
  v8::Lane proto;
  proto.set_lane_tag(Raw(lane.lane_tag));
  proto.set_sequence(Raw(lane.sequence));
  *proto.mutable_input() = ToProto(lane.input);
  proto.set_kind(static_cast<v8::LaneKind>(lane.kind));
  proto.set_max_tokens(lane.max_tokens);
  Write(lane.sampling, *proto.mutable_sampling());
  proto.set_grammar_handle(Raw(lane.grammar_handle));
  proto.set_logit_bias_handle(Raw(lane.logit_bias_handle));
  proto.mutable_stop_tokens()->Assign(lane.stop_tokens.begin(), lane.stop_tokens.end());
  proto.set_strategy_slot(Raw(lane.strategy_slot));
  proto.mutable_draft_tokens()->Assign(lane.draft_tokens.begin(), lane.draft_tokens.end());
  proto.set_want_logits(lane.want_logits);
  proto.set_stop_slot(lane.stop_slot);
  return proto;
}

Lane FromProto(v8::Lane&& proto) {
  Lane lane;
  lane.lane_tag = LaneTag{proto.lane_tag()};
  lane.sequence = SequenceId{proto.sequence()};
  lane.input = FromProto(std::move(*proto.mutable_input()));
  lane.kind = static_cast<LaneKind>(proto.kind());
  lane.max_tokens = proto.max_tokens();
  lane.sampling = Read(proto.sampling());
  lane.grammar_handle = GrammarHandle{proto.grammar_handle()};
  lane.logit_bias_handle = LogitBiasHandle{proto.logit_bias_handle()};
  lane.stop_tokens = ToVector<Token>(proto.stop_tokens());
  lane.strategy_slot = StrategySlot{proto.strategy_slot()};
  lane.draft_tokens = ToVector<Token>(proto.draft_tokens());
  lane.want_logits = proto.want_logits();
  lane.stop_slot = proto.stop_slot();
  return lane;
}

v8::LaneEvent ToProto(const LaneEvent& event) {
  v8::LaneEvent proto;
  proto.set_lane_tag(Raw(event.lane_tag));
  *proto.mutable_out() = ToProto(event.out);
  if (event.logits != TokenSpan{}) *proto.mutable_logits() = ToProto(event.logits);
  proto.set_finish_reason(static_cast<v8::FinishReason>(event.finish_reason));
  proto.set_sequence(Raw(event.sequence));
  proto.set_position(event.position);
  proto.set_accepted_drafts(event.accepted_drafts);
  proto.set_status(ToProto(event.status));
  proto.set_message(ToUtf8(event.message, kMaxLaneMessageBytes));
  return proto;
}

LaneEvent FromProto(v8::LaneEvent&& proto) {
  LaneEvent event;
  event.lane_tag = LaneTag{proto.lane_tag()};
  event.out = FromProto(std::move(*proto.mutable_out()));
  event.logits = FromProto(std::move(*proto.mutable_logits()));
  event.finish_reason = static_cast<FinishReason>(proto.finish_reason());
  event.sequence = SequenceId{proto.sequence()};
  event.position = proto.position();
  event.accepted_drafts = proto.accepted_drafts();
  event.status = FromProto(proto.status());
  event.message = std::move(*proto.mutable_message());
  return event;
}

v8::TickSubmit ToProto(const TickSubmit& message) {
  v8::TickSubmit proto;
  v8::TickPlan& plan = *proto.mutable_plan();
  plan.set_tick_id(message.plan.tick_id);
  plan.set_flags(message.plan.flags);
  plan.set_deadline_us(message.plan.deadline_us);
  AddEach(message.plan.lanes, plan.mutable_lanes());
  return proto;
}

TickSubmit FromProto(v8::TickSubmit&& proto) {
  v8::TickPlan& plan = *proto.mutable_plan();
  return {{plan.tick_id(), plan.flags(), plan.deadline_us(),
           ConvertEach<Lane>(*plan.mutable_lanes(), FromProto)}};
}

v8::TickResult ToProto(const TickResult& message) {
  v8::TickResult proto;
  proto.set_status(ToProto(message.status));
  proto.set_message(MessageText(message.message));
  Write(message.events, *proto.mutable_events());
  return proto;
}

TickResult FromProto(v8::TickResult&& proto) {
  return {FromProto(proto.status()), std::move(*proto.mutable_message()),
          Read(*proto.mutable_events())};
}

v8::TickEmit ToProto(const TickEmit& message) {
  v8::TickEmit proto;
  proto.set_tick_id(message.tick_id);
  proto.set_lane_tag(Raw(message.lane_tag));
  proto.mutable_tokens()->Assign(message.tokens.begin(), message.tokens.end());
  proto.set_index(message.index);
  return proto;
}

TickEmit FromProto(v8::TickEmit&& proto) {
  return {proto.tick_id(), LaneTag{proto.lane_tag()}, ToVector<Token>(proto.tokens()),
          proto.index()};
}

}  // namespace superfluid::linkw
