#include "engine/whisper/whisper_model.h"

#include <dlfcn.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kProbeContext = 64;  // 20 ms each
constexpr int kFullContext = 1500;
constexpr double kAttentionShare = 1.2;  // which grows faster than the rest
constexpr size_t kProbeSamples = 8000;

std::vector<std::string> Accelerators() {
  std::vector<std::string> names;
  for (size_t i = 0; i < SUPERFLUID_GGML(backend_dev_count)(); ++i) {
    auto* const device = SUPERFLUID_GGML(backend_dev_get)(i);
    const auto type = SUPERFLUID_GGML(backend_dev_type)(device);
    if (type != SUPERFLUID_GGML_CONSTANT(BACKEND_DEVICE_TYPE_GPU) &&
        type != SUPERFLUID_GGML_CONSTANT(BACKEND_DEVICE_TYPE_IGPU)) {
      continue;
    }
    names.emplace_back(SUPERFLUID_GGML(backend_dev_name)(device));
  }
  return names;
}

#ifdef SUPERFLUID_SYSTEM_GGML
// Where ggml lies.
std::string LibraryFolder() {
  Dl_info info{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  if (dladdr(reinterpret_cast<const void*>(&ggml_backend_load_all), &info) == 0) return "";
  return std::filesystem::path(info.dli_fname).parent_path().string();
}
#endif

// A model's file as the library reads it, front to back; says how far that is.
class ModelReader {
 public:
  ModelReader(const std::string& path, const std::function<void(uint32_t permille)>& on_loading)
      : file_(path, std::ios::binary), on_loading_(on_loading) {
    std::error_code error;
    size_ = std::filesystem::file_size(path, error);
    if (error) size_ = 0;
  }

  whisper_model_loader Loader() {
    whisper_model_loader loader = {};
    loader.context = this;
    loader.read = [](void* reader, void* out, size_t size) {
      return static_cast<ModelReader*>(reader)->Read(out, size);
    };
    loader.eof = [](void* reader) { return static_cast<ModelReader*>(reader)->file_.eof(); };
    loader.close = [](void* reader) { static_cast<ModelReader*>(reader)->file_.close(); };
    return loader;
  }

 private:
  size_t Read(void* out, size_t size) {
    file_.read(static_cast<char*>(out), static_cast<std::streamsize>(size));
    read_ += size;
    if (on_loading_ && size_ > 0) {
      on_loading_(static_cast<uint32_t>(std::min(read_, size_) * 1000 / size_));
    }
    return size;
  }

  std::ifstream file_;
  const std::function<void(uint32_t permille)>& on_loading_;
  uint64_t size_ = 0;
  uint64_t read_ = 0;
};

struct EncodeTimes {
  Clock::time_point begin;
  Clock::time_point end;
};

#if defined(__x86_64__) && !defined(SUPERFLUID_SYSTEM_GGML)
// Not every compiler's __builtin_cpu_supports knows this one.
bool HasF16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

}  // namespace

absl::Status CheckProcessor() {
#if defined(__x86_64__) && !defined(SUPERFLUID_SYSTEM_GGML)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi2") || !HasF16c()) {
    return absl::FailedPreconditionError(
        "the whisper engine is built for processors with AVX2, FMA, BMI2 and F16C, which this one "
        "lacks; build it against a whisper.cpp of this machine's own (pkg-config whisper)");
  }
#endif
  return absl::OkStatus();
}

void LoadBackends([[maybe_unused]] const std::string& folder) {
  // Where an assertion of the library fails it would start a debugger on this process, and wait for
  // it. Nobody else reads the environment while an engine is made.
  for (const char* const name : {"GGML_NO_BACKTRACE", "WSP_GGML_NO_BACKTRACE"}) {
    setenv(name, "1", /*overwrite=*/0);  // NOLINT(concurrency-mt-unsafe)
  }
#ifdef SUPERFLUID_SYSTEM_GGML
  if (ggml_backend_reg_count() > 0) return;  // linked in, or loaded by an earlier engine
  ggml_backend_load_all_from_path((folder.empty() ? LibraryFolder() : folder).c_str());
  if (ggml_backend_reg_count() == 0) ggml_backend_load_all();
#endif
}

std::string LibraryVersion() {
  std::string version = absl::StrCat("whisper.cpp ", whisper_version());
  for (size_t i = 0; i < SUPERFLUID_GGML(backend_reg_count)(); ++i) {
    auto* const registry = SUPERFLUID_GGML(backend_reg_get)(i);
    absl::StrAppend(&version, i == 0 ? ", " : "+", SUPERFLUID_GGML(backend_reg_name)(registry));
  }
  return version;
}

absl::StatusOr<std::string> ChooseDevice(const WhisperOptions& options, int device) {
  if (!options.gpu) return std::string();
  const std::vector<std::string> names = Accelerators();
  if (names.empty() && device == 0) return std::string();
  if (device < 0 || static_cast<size_t>(device) >= names.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no device ", device, "; the library sees ", names.size(),
                     " (use the engine option gpu=false for the CPU)"));
  }
  return names[static_cast<size_t>(device)];
}

absl::StatusOr<WhisperContext> LoadContext(const EngineConfig& config,
                                           const WhisperOptions& options, bool use_gpu,
                                           LibraryLog& log) {
  whisper_context_params params = whisper_context_default_params();
  params.use_gpu = use_gpu;
  params.gpu_device = config.device;
  params.flash_attn = options.flash_attn;
  WhisperContext context;
  std::string reason;
  try {
    ModelReader reader(config.model_path, config.on_loading);
    whisper_model_loader loader = reader.Loader();
    context.reset(whisper_init_with_params_no_state(&loader, params));
  } catch (const std::exception& exception) {
    reason = exception.what();
  }
  if (context != nullptr) return context;
  if (reason.empty()) reason = log.TakeFirstError();
  return absl::FailedPreconditionError(
      absl::StrCat("the model ", config.model_path, " cannot be loaded: ", reason));
}

absl::Duration EstimateEncode(whisper_context* context, whisper_state* state, int threads) {
  whisper_full_params params = whisper_full_default_params(WHISPER_SAMPLING_GREEDY);
  params.n_threads = threads;
  params.print_progress = false;
  params.audio_ctx = kProbeContext;
  EncodeTimes times;
  params.encoder_begin_callback = [](whisper_context*, whisper_state*, void* data) {
    static_cast<EncodeTimes*>(data)->begin = Clock::now();
    return true;
  };
  params.encoder_begin_callback_user_data = &times;
  params.abort_callback = [](void* data) {  // after the encode; ends the call
    static_cast<EncodeTimes*>(data)->end = Clock::now();
    return true;
  };
  params.abort_callback_user_data = &times;
  const std::vector<float> samples(kProbeSamples, 0.0F);
  whisper_full_with_state(context, state, params, samples.data(), static_cast<int>(samples.size()));
  return absl::FromChrono(times.end - times.begin) * kFullContext / kProbeContext * kAttentionShare;
}

}  // namespace superfluid
