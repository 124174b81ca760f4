#include "engine/abi/guarded_buffer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/abi/status_codes.h"
#include "engine/abi/text.h"

namespace superfluid {
namespace {

constexpr size_t kGuardBytes = 64;
constexpr char kGuard = '\x5A';
constexpr size_t kErrorBytes = 1024;

}  // namespace

GuardedBuffer::GuardedBuffer(size_t capacity) : capacity_(capacity), bytes_(capacity, '\0') {
  bytes_.insert(bytes_.end(), kGuardBytes, kGuard);
}

bool GuardedBuffer::intact() const {
  return std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(capacity_), bytes_.end(),
                     [](char c) { return c == kGuard; });
}

ErrorBuffer::ErrorBuffer() : buffer_(kErrorBytes), error_{buffer_.data(), buffer_.capacity()} {}

sfl_error* ErrorBuffer::Prepare() {
  buffer_.data()[0] = '\0';
  error_ = {buffer_.data(), buffer_.capacity()};
  return &error_;
}

absl::Status ErrorBuffer::ToStatus(absl::string_view what, sfl_status code) const {
  if (!buffer_.intact()) {
    return absl::InternalError(
        absl::StrCat(what, ": the engine wrote past the end of its error message"));
  }
  const std::string message = ValidUtf8(TextOfArray(buffer_.data(), buffer_.capacity()));
  absl::Status status = StatusFromAbi(code, message);
  if (status.ok()) return status;
  return absl::Status(status.code(), status.message().empty()
                                         ? absl::StrCat(what, " failed")
                                         : absl::StrCat(what, ": ", status.message()));
}

}  // namespace superfluid
