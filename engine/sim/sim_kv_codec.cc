#include "engine/sim/sim_kv_codec.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr std::byte kVeil{0x5A};
constexpr uint32_t kMagic = 0x4C504D53;  // "SMPL"

struct Header {
  uint32_t magic = kMagic;
  uint32_t rows = 0;
};

}  // namespace

uint64_t SimKvBytes(uint64_t rows, uint32_t encoding) {
  return rows * kSimRowBytes + (encoding == kSimPlanesEncoding ? sizeof(Header) : 0);
}

SimKvWriter::SimKvWriter(uint64_t rows, uint32_t encoding, absl::Span<std::byte> out)
    : rows_(rows), encoding_(encoding), out_(out) {
  if (encoding_ != kSimPlanesEncoding) return;
  const Header header{kMagic, static_cast<uint32_t>(rows)};
  std::memcpy(out_.data(), &header, sizeof(header));
}

void SimKvWriter::Put(uint64_t index, const SimRowBytes& row) {
  if (encoding_ == kSimRawEncoding) {
    std::memcpy(out_.data() + index * kSimRowBytes, row.data(), row.size());
    return;
  }
  for (size_t plane = 0; plane < row.size(); ++plane) {
    out_[sizeof(Header) + plane * rows_ + index] = row[plane] ^ kVeil;
  }
}

absl::Status SimKvReader::Check() const {
  const uint64_t expected = SimKvBytes(rows_, encoding_);
  if (bytes_.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes_.size(), " bytes of state instead of ", expected));
  }
  if (encoding_ != kSimPlanesEncoding) return absl::OkStatus();
  Header header;
  std::memcpy(&header, bytes_.data(), sizeof(header));
  if (header.magic != kMagic || header.rows != rows_) {
    return absl::InvalidArgumentError("the bytes are no state of this encoding");
  }
  return absl::OkStatus();
}

SimRowBytes SimKvReader::Get(uint64_t index) const {
  SimRowBytes row{};
  if (encoding_ == kSimRawEncoding) {
    std::memcpy(row.data(), bytes_.data() + index * kSimRowBytes, row.size());
    return row;
  }
  for (size_t plane = 0; plane < row.size(); ++plane) {
    row[plane] = bytes_[sizeof(Header) + plane * rows_ + index] ^ kVeil;
  }
  return row;
}

}  // namespace superfluid
