#include "engine/whisper/backend_capture.h"

namespace superfluid {
namespace {

BackendCapture*& Current() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  thread_local BackendCapture* current = nullptr;
  return current;
}

}  // namespace

BackendCapture::BackendCapture() { Current() = this; }

BackendCapture::~BackendCapture() { Current() = nullptr; }

void BackendCapture::Note(GgmlBackend backend) {
  BackendCapture* const current = Current();
  if (current != nullptr && backend != nullptr) current->backends_.push_back(backend);
}

void SetAbortCallback(GgmlBackend backend, GgmlAbortCallback callback, void* context) {
  SUPERFLUID_GGML(backend_cpu_set_abort_callback)(backend, callback, context);
}

#ifndef SUPERFLUID_SYSTEM_GGML
extern "C" {

// The library's own function, under the name that --wrap gives it, and what takes its place.
GgmlBackend RealBackendInitByType(GgmlBackendDeviceType type, const char* params) __asm__(
    "__real_wsp_ggml_backend_init_by_type");
GgmlBackend WrapBackendInitByType(GgmlBackendDeviceType type, const char* params) __asm__(
    "__wrap_wsp_ggml_backend_init_by_type");

GgmlBackend WrapBackendInitByType(GgmlBackendDeviceType type, const char* params) {
  GgmlBackend const backend = RealBackendInitByType(type, params);
  if (type == SUPERFLUID_GGML_CONSTANT(BACKEND_DEVICE_TYPE_CPU)) BackendCapture::Note(backend);
  return backend;
}

}  // extern "C"
#endif

}  // namespace superfluid
