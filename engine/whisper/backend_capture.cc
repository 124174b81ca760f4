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

// The function may be in a library that ggml loads at run time, so it is asked for by name.
bool SetAbortCallback(GgmlBackend backend, GgmlAbortCallback callback, void* context) {
  using SetCallback = void (*)(GgmlBackend, GgmlAbortCallback, void*);
  auto* const registry =
      SUPERFLUID_GGML(backend_dev_backend_reg)(SUPERFLUID_GGML(backend_get_device)(backend));
  void* const address = SUPERFLUID_GGML(backend_reg_get_proc_address)(
      registry, SUPERFLUID_GGML_NAME("backend_set_abort_callback"));
  if (address == nullptr) return false;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  reinterpret_cast<SetCallback>(address)(backend, callback, context);
  return true;
}

extern "C" {

#ifdef SUPERFLUID_SYSTEM_GGML

// In place of ggml's own, which does just this.
__attribute__((visibility("default"))) ggml_backend_t ggml_backend_init_by_type(
    enum ggml_backend_dev_type type, const char* params) {
  ggml_backend_dev_t const device = ggml_backend_dev_by_type(type);
  if (device == nullptr) return nullptr;
  ggml_backend_t const backend = ggml_backend_dev_init(device, params);
  if (type == GGML_BACKEND_DEVICE_TYPE_CPU) BackendCapture::Note(backend);
  return backend;
}

#else

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

#endif

}  // extern "C"

}  // namespace superfluid
