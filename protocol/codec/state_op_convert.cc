#include "protocol/codec/state_op_convert.h"

#include <utility>
#include <variant>

#include "protocol/codec/convert_common.h"

namespace superfluid::linkw {
namespace {

// Puts an op into its member of the oneof.
struct OpWriter {
  v8::StateOpSubmit& proto;

  void operator()(const Snapshot& op) const {
    v8::Snapshot& out = *proto.mutable_snapshot();
    out.set_sequence(Raw(op.sequence));
    out.set_space_id(Raw(op.space_id));
    out.set_boundary_pos(op.boundary_pos);
    out.set_buf_id(Raw(op.buf_id));
    out.set_sizing_gen(op.sizing_gen);
  }

  void operator()(const Demote& op) const {
    v8::Demote& out = *proto.mutable_demote();
    out.set_sequence(Raw(op.sequence));
    out.set_space_id(Raw(op.space_id));
    *out.mutable_range() = ToProto(op.range);
    out.set_encoding(op.encoding);
    out.set_buf_id(Raw(op.buf_id));
    out.set_sizing_gen(op.sizing_gen);
  }

  void operator()(const Restore& op) const {
    v8::Restore& out = *proto.mutable_restore();
    out.set_sequence(Raw(op.sequence));
    out.set_space_id(Raw(op.space_id));
    out.set_buf_id(Raw(op.buf_id));
  }

  void operator()(const Promote& op) const {
    v8::Promote& out = *proto.mutable_promote();
    out.set_sequence(Raw(op.sequence));
    out.set_space_id(Raw(op.space_id));
    *out.mutable_range() = ToProto(op.range);
    out.set_buf_id(Raw(op.buf_id));
  }
};

Snapshot ReadSnapshot(const v8::Snapshot& in) {
  return {SequenceId{in.sequence()}, SpaceId{in.space_id()}, in.boundary_pos(), BufId{in.buf_id()},
          in.sizing_gen()};
}

Demote ReadDemote(v8::Demote& in) {
  return {SequenceId{in.sequence()},
          SpaceId{in.space_id()},
          FromProto(std::move(*in.mutable_range())),
          in.encoding(),
          BufId{in.buf_id()},
          in.sizing_gen()};
}

Restore ReadRestore(const v8::Restore& in) {
  return {SequenceId{in.sequence()}, SpaceId{in.space_id()}, BufId{in.buf_id()}};
}

Promote ReadPromote(v8::Promote& in) {
  return {SequenceId{in.sequence()}, SpaceId{in.space_id()},
          FromProto(std::move(*in.mutable_range())), BufId{in.buf_id()}};
}

}  // namespace

v8::StateOpSubmit ToProto(const StateOpSubmit& message) {
  v8::StateOpSubmit proto;
  std::visit(OpWriter{proto}, message.op);
  return proto;
}

absl::StatusOr<StateOpSubmit> FromProto(v8::StateOpSubmit&& proto) {
  switch (proto.op_case()) {
    case v8::StateOpSubmit::kSnapshot:
      return StateOpSubmit{ReadSnapshot(proto.snapshot())};
    case v8::StateOpSubmit::kDemote:
      return StateOpSubmit{ReadDemote(*proto.mutable_demote())};
    case v8::StateOpSubmit::kRestore:
      return StateOpSubmit{ReadRestore(proto.restore())};
    case v8::StateOpSubmit::kPromote:
      return StateOpSubmit{ReadPromote(*proto.mutable_promote())};
    case v8::StateOpSubmit::OP_NOT_SET:
      break;
  }
  return MakeStatus(Status::kUnsupported, "StateOpSubmit.op: missing, or unknown to this version");
}

v8::StateOpAccepted ToProto(const StateOpAccepted& message) {
  v8::StateOpAccepted proto;
  proto.set_status(ToProto(message.status));
  proto.set_message(MessageText(message.message));
  proto.set_op_handle(Raw(message.op_handle));
  return proto;
}

StateOpAccepted FromProto(v8::StateOpAccepted&& proto) {
  return {FromProto(proto.status()), std::move(*proto.mutable_message()),
          OpHandle{proto.op_handle()}};
}

v8::StateOpDone ToProto(const StateOpDone& message) {
  v8::StateOpDone proto;
  proto.set_op_handle(Raw(message.op_handle));
  proto.set_state(static_cast<v8::OpState>(message.state));
  proto.set_error(ToProto(message.error));
  proto.set_message(MessageText(message.message));
  proto.set_bytes_moved(message.bytes_moved);
  return proto;
}

StateOpDone FromProto(v8::StateOpDone&& proto) {
  return {OpHandle{proto.op_handle()}, static_cast<OpState>(proto.state()),
          FromProto(proto.error()), std::move(*proto.mutable_message()), proto.bytes_moved()};
}

v8::OpCancel ToProto(const OpCancel& message) {
  v8::OpCancel proto;
  proto.set_op_handle(Raw(message.op_handle));
  return proto;
}

OpCancel FromProto(v8::OpCancel&& proto) { return {OpHandle{proto.op_handle()}}; }

}  // namespace superfluid::linkw
