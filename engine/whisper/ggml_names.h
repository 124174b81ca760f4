#ifndef SUPERFLUID_ENGINE_WHISPER_GGML_NAMES_H_
#define SUPERFLUID_ENGINE_WHISPER_GGML_NAMES_H_

#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>
#include <whisper.h>

// The only place that knows how ggml's names are spelled: the sources that whisper.cpp is built
// from here have a prefix, a system installation has none.
#ifdef SUPERFLUID_SYSTEM_GGML
#define SUPERFLUID_GGML(name) ggml_##name
#define SUPERFLUID_GGML_CONSTANT(name) GGML_##name
#define SUPERFLUID_GGML_NAME(name) "ggml_" name
#else
#define SUPERFLUID_GGML(name) wsp_ggml_##name
#define SUPERFLUID_GGML_CONSTANT(name) WSP_GGML_##name
#define SUPERFLUID_GGML_NAME(name) "wsp_ggml_" name
#endif

namespace superfluid {

using GgmlBackend = SUPERFLUID_GGML(backend_t);
using GgmlBackendDeviceType = enum SUPERFLUID_GGML(backend_dev_type);
using GgmlLogLevel = enum SUPERFLUID_GGML(log_level);
using GgmlAbortCallback = SUPERFLUID_GGML(abort_callback);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_GGML_NAMES_H_
