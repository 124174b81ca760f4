#ifndef SUPERFLUID_ENGINE_ABI_EXPORT_WINDOW_H_
#define SUPERFLUID_ENGINE_ABI_EXPORT_WINDOW_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace superfluid {

// Where a plug-in writes an export: a second view of the target's memory, between guard pages, so
// that what is written outside of the target is found and never reaches its neighbours, which a
// peer may own.
//
//      guard | first, partial page | whole pages        | last, partial page | guard
//            | ours, copied        | the target's own   | ours, copied       |
//
// The whole pages are shared with the target, so that a large export is not copied. Memory that is
// not shared with anybody cannot be viewed twice; there, all of it is copied (in a worker exports
// always go to shared segments). Writes up to one page before or after the target are found;
// farther ones cannot be.
//
// Threads: the engine's. Lifetime: of the view: this object's; the target must outlive it.
class ExportWindow {
 public:
  // ResourceExhausted: no address space or mappings left.
  static absl::StatusOr<ExportWindow> Open(absl::Span<std::byte> target);

  ExportWindow(ExportWindow&& other) noexcept;
  ExportWindow& operator=(ExportWindow&& other) = delete;
  ExportWindow(const ExportWindow&) = delete;
  ExportWindow& operator=(const ExportWindow&) = delete;
  ~ExportWindow();

  // As many bytes as the target has; never null.
  std::byte* data() const { return base_ + offset_; }
  // False once something wrote outside of the view.
  bool intact() const;
  // Brings what is not shared to the target. To be called once, when the export is whole.
  void Finish();
  // Whether the whole pages are the target's own.
  bool shared() const { return shared_; }

 private:
  ExportWindow() = default;
  absl::Status ShareWholePages();
  void AbandonAroundHole();
  void FillGuards();

  absl::Span<std::byte> target_;
  std::byte* base_ = nullptr;  // of the mapping
  size_t mapped_ = 0;
  size_t offset_ = 0;  // of the view in the mapping
  // The whole pages, as offsets in the target.
  size_t whole_start_ = 0;
  size_t whole_end_ = 0;
  bool shared_ = false;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_EXPORT_WINDOW_H_
