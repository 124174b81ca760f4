#include "protocol/codec/convert_common.h"

namespace superfluid::linkw {

v8::TokenSpan ToProto(const TokenSpan& span) {
  v8::TokenSpan proto;
  proto.set_ring_id(Raw(span.ring_id));
  proto.set_slot(span.slot);
  proto.set_generation(span.generation);
  proto.set_offset(span.offset);
  proto.set_count(span.count);
  return proto;
}

TokenSpan FromProto(v8::TokenSpan&& proto) {
  return {RingId{proto.ring_id()}, proto.slot(), proto.generation(), proto.offset(), proto.count()};
}

v8::TokenRange ToProto(const TokenRange& range) {
  v8::TokenRange proto;
  proto.set_start(range.start);
  proto.set_end(range.end);
  return proto;
}

TokenRange FromProto(v8::TokenRange&& proto) { return {proto.start(), proto.end()}; }

v8::BufferSpan ToProto(const BufferSpan& span) {
  v8::BufferSpan proto;
  proto.set_buf_id(Raw(span.buf_id));
  proto.set_offset(span.offset);
  proto.set_length(span.length);
  return proto;
}

BufferSpan FromProto(v8::BufferSpan&& proto) {
  return {BufId{proto.buf_id()}, proto.offset(), proto.length()};
}

v8::MemCounters ToProto(const MemCounters& mem) {
  v8::MemCounters proto;
  proto.set_allocated_bytes(mem.allocated_bytes);
  proto.set_host_retained_bytes(mem.host_retained_bytes);
  proto.set_pool_blocks_total(mem.pool_blocks_total);
  proto.set_pool_blocks_used(mem.pool_blocks_used);
  proto.set_pool_bytes_evictable(mem.pool_bytes_evictable);
  proto.set_tentative_bytes(mem.tentative_bytes);
  return proto;
}

MemCounters FromProto(v8::MemCounters&& proto) {
  return {proto.allocated_bytes(),  proto.host_retained_bytes(),  proto.pool_blocks_total(),
          proto.pool_blocks_used(), proto.pool_bytes_evictable(), proto.tentative_bytes()};
}

}  // namespace superfluid::linkw
