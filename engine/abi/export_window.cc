#include "engine/abi/export_window.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr std::byte kGuard{0x5A};

size_t PageBytes() {
  static const auto kBytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return kBytes;
}

bool IsGuard(const std::byte* begin, const std::byte* end) {
  return std::all_of(begin, end, [](std::byte byte) { return byte == kGuard; });
}

}  // namespace

absl::StatusOr<ExportWindow> ExportWindow::Open(absl::Span<std::byte> target) {
  const size_t page = PageBytes();
  ExportWindow window;
  window.target_ = target;
  const size_t in_page = reinterpret_cast<uintptr_t>(target.data()) % page;
  window.offset_ = page + in_page;
  window.mapped_ = page + (in_page + target.size() + page - 1) / page * page + page;
  void* const base = mmap(nullptr, window.mapped_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no room to export ", target.size(), " bytes (errno ", errno, ")"));
  }
  window.base_ = static_cast<std::byte*>(base);
  window.whole_start_ = std::min((page - in_page) % page, target.size());
  const size_t last = (in_page + target.size()) % page;
  window.whole_end_ = std::max(window.whole_start_, target.size() - std::min(last, target.size()));
  if (absl::Status status = window.ShareWholePages(); !status.ok()) return status;
  window.FillGuards();
  return window;
}

absl::Status ExportWindow::ShareWholePages() {
  const size_t bytes = whole_end_ - whole_start_;
  if (bytes == 0) return absl::OkStatus();
  // An old size of 0 asks for a second mapping of the same pages; refused for private memory. First
  // anywhere, because a refusal would leave a hole where MREMAP_FIXED wanted to go.
  void* const twin = mremap(target_.data() + whole_start_, 0, bytes, MREMAP_MAYMOVE);
  if (twin == MAP_FAILED) return absl::OkStatus();
  if (mremap(twin, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, data() + whole_start_) ==
      MAP_FAILED) {
    munmap(twin, bytes);
    AbandonAroundHole();
    return absl::ResourceExhaustedError(
        absl::StrCat("no mapping left to export (errno ", errno, ")"));
  }
  shared_ = true;
  return absl::OkStatus();
}

void ExportWindow::AbandonAroundHole() {
  // The hole may be somebody else's by now.
  std::byte* const hole_end = data() + whole_end_;
  munmap(base_, offset_ + whole_start_);
  munmap(hole_end, static_cast<size_t>(base_ + mapped_ - hole_end));
  base_ = nullptr;
}

void ExportWindow::FillGuards() {
  std::fill(base_, data(), kGuard);
  std::fill(data() + target_.size(), base_ + mapped_, kGuard);
}

ExportWindow::ExportWindow(ExportWindow&& other) noexcept
    : target_(other.target_),
      base_(std::exchange(other.base_, nullptr)),
      mapped_(other.mapped_),
      offset_(other.offset_),
      whole_start_(other.whole_start_),
      whole_end_(other.whole_end_),
      shared_(other.shared_) {}

ExportWindow::~ExportWindow() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

bool ExportWindow::intact() const {
  return IsGuard(base_, data()) && IsGuard(data() + target_.size(), base_ + mapped_);
}

void ExportWindow::Finish() {
  if (target_.empty()) return;
  const size_t first_end = shared_ ? whole_start_ : target_.size();
  const size_t last_start = shared_ ? whole_end_ : target_.size();
  std::memcpy(target_.data(), data(), first_end);
  std::memcpy(target_.data() + last_start, data() + last_start, target_.size() - last_start);
}

}  // namespace superfluid
