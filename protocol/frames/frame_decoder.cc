#include "protocol/frames/frame_decoder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "protocol/frames/frame_layout.h"
#include "protocol/frames/little_endian.h"
#include "protocol/messages/status.h"
#include "protocol/messages/text.h"

namespace superfluid::linkw {
namespace {

// A payload takes memory for this much at first, and for all of it once so much has arrived.
constexpr size_t kPayloadStep = size_t{1} << 20;
// That memory is touched at most so far ahead of the bytes that arrived.
constexpr size_t kFillStep = size_t{128} << 10;
// What is left of a payload is read straight into it if it is at least this much.
constexpr size_t kDirectReadBytes = FrameDecoder::kReadBytes;

FrameHeader DecodeHeader(const char* bytes) {
  FrameHeader header;
  header.proto_version = LoadLittleEndian<uint16_t>(bytes + kVersionOffset);
  header.type = LoadLittleEndian<uint16_t>(bytes + kTypeOffset);
  header.seq = LoadLittleEndian<uint64_t>(bytes + kSeqOffset);
  header.correlation = LoadLittleEndian<uint64_t>(bytes + kCorrelationOffset);
  header.payload_len = LoadLittleEndian<uint32_t>(bytes + kPayloadLenOffset);
  return header;
}

}  // namespace

// ---- Input

absl::Span<char> FrameDecoder::Prepare() {
  prepared_direct_ = ReadsDirectly();
  if (prepared_direct_) {
    GrowPayload();
    return absl::MakeSpan(payload_).subspan(payload_taken_);
  }
  MakeRoom(kReadBytes);
  return absl::MakeSpan(buffer_).subspan(end_);
}

void FrameDecoder::Commit(size_t size) {
  bytes_received_ += size;
  if (prepared_direct_) {
    if (size > payload_.size() - payload_taken_) std::abort();
    payload_taken_ += static_cast<uint32_t>(size);
    prepared_direct_ = false;
    return;
  }
  if (size > buffer_.size() - end_) std::abort();
  end_ += size;
  if (!error_.ok()) begin_ = end_;
}

void FrameDecoder::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const absl::Span<char> space = Prepare();
    const size_t size = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), size);
    Commit(size);
    bytes.remove_prefix(size);
  }
}

// Inside a large payload of which everything that was buffered is already taken.
bool FrameDecoder::ReadsDirectly() const {
  return error_.ok() && header_.has_value() && buffered() == 0 && IsKnown(header_->type) &&
         header_->payload_len - payload_taken_ >= kDirectReadBytes;
}

// In steps, so that what is filled with zeros first is a fraction of what is then read. What has
// arrived moves once: whoever reads does other things between two reads, and for as long as a copy
// of megabytes takes it would not.
void FrameDecoder::GrowPayload() {
  if (payload_.size() - payload_taken_ >= kDirectReadBytes) return;
  const size_t size = std::min<size_t>(header_->payload_len, payload_taken_ + kFillStep);
  if (size > payload_.capacity()) {
    const size_t limit = size > kPayloadStep ? header_->payload_len : kPayloadStep;
    payload_.reserve(std::min<size_t>(header_->payload_len, limit));
  }
  payload_.resize(size);
}

void FrameDecoder::MakeRoom(size_t size) {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, buffered());
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < size) buffer_.resize(end_ + size);
}

// ---- Output

absl::StatusOr<std::optional<Frame>> FrameDecoder::Next() {
  const absl::StatusOr<std::optional<FrameHeader>> header = NextHeader();
  if (!header.ok()) return header.status();
  if (!header->has_value()) return std::optional<Frame>();
  TakePayload();
  if (payload_taken_ < header_->payload_len) return std::optional<Frame>();
  return FinishFrame();
}

absl::StatusOr<std::optional<FrameHeader>> FrameDecoder::NextHeader() {
  while (error_.ok()) {
    if (!header_.has_value()) {
      if (buffered() < kFrameHeaderBytes) return std::optional<FrameHeader>();
      error_ = TakeHeader();
      if (!error_.ok()) break;
    }
    if (!SkipsFrame()) return header_;
    TakePayload();
    if (payload_taken_ < header_->payload_len) return std::optional<FrameHeader>();
    FinishFrame();
    ++skipped_frames_;
  }
  begin_ = end_;
  return error_;
}

bool FrameDecoder::SkipsFrame() const {
  return !IsKnown(header_->type) && IsDroppable(header_->type);
}

absl::Status FrameDecoder::TakeHeader() {
  const char* bytes = buffer_.data() + begin_;
  absl::Status status = CheckHeader(bytes);
  if (!status.ok()) return status;
  header_ = DecodeHeader(bytes);
  last_seq_ = header_->seq;
  begin_ += kFrameHeaderBytes;
  payload_taken_ = 0;
  payload_.clear();
  return absl::OkStatus();
}

absl::Status FrameDecoder::CheckHeader(const char* bytes) const {
  if (LoadLittleEndian<uint32_t>(bytes + kMagicOffset) != kMagic) {
    return LinkError("bad magic", nullptr);
  }
  if (LoadLittleEndian<uint32_t>(bytes + kCrcOffset) != HeaderCrc(bytes)) {
    return LinkError("bad header checksum", nullptr);
  }
  const FrameHeader header = DecodeHeader(bytes);
  if (header.proto_version != version_) {
    return LinkError(
        absl::StrCat("protocol version ", header.proto_version, " instead of ", version_), &header,
        Status::kVersionMismatch);
  }
  const uint32_t limit = PayloadLimit(static_cast<MessageType>(header.type), max_frame_);
  if (header.payload_len > limit) {
    return LinkError(
        absl::StrCat("payload of ", header.payload_len, " bytes, the limit is ", limit), &header);
  }
  if (header.seq != last_seq_ + 1) {
    return LinkError(absl::StrCat("seq ", header.seq, " follows ", last_seq_), &header);
  }
  return absl::OkStatus();
}

void FrameDecoder::TakePayload() {
  const auto size =
      static_cast<uint32_t>(std::min<size_t>(buffered(), header_->payload_len - payload_taken_));
  if (size == 0) return;
  if (IsKnown(header_->type)) AppendToPayload(size);
  begin_ += size;
  payload_taken_ += size;
}

void FrameDecoder::AppendToPayload(size_t size) {
  payload_.resize(payload_taken_);  // without room for direct reads that did not come
  if (payload_.empty()) payload_.reserve(std::min<size_t>(header_->payload_len, kPayloadStep));
  payload_.append(buffer_.data() + begin_, size);
}

// The frame, whose payload is complete.
Frame FrameDecoder::FinishFrame() {
  const FrameHeader header = *header_;
  header_.reset();
  const uint64_t offset = frame_offset_;
  frame_offset_ += kFrameHeaderBytes + header.payload_len;
  return Frame{header, std::exchange(payload_, {}), offset};
}

absl::Status FrameDecoder::LinkError(std::string_view what, const FrameHeader* header,
                                     Status status) const {
  std::string text = absl::StrCat(AbslView(what), " at byte ", frame_offset_);
  if (header == nullptr) {
    absl::StrAppend(&text, " (after seq ", last_seq_, ")");
  } else {
    absl::StrAppendFormat(&text, " (type 0x%04x %s, seq %d)", header->type,
                          AbslView(MessageTypeName(static_cast<MessageType>(header->type))),
                          header->seq);
  }
  return MakeStatus(status, text);
}

}  // namespace superfluid::linkw
