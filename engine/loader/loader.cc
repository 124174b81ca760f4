#include "engine/loader/loader.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/abi/plugin_engine.h"
#include "engine/abi/status_codes.h"
#include "engine/abi/superfluid_engine.h"

namespace superfluid {
namespace {

namespace fs = std::filesystem;

// dlopen reports a missing file and a missing dependency alike, and blocks on a FIFO.
absl::Status CheckFile(const std::string& path) {
  std::error_code error;
  const fs::file_status file = fs::status(path, error);
  if (file.type() == fs::file_type::not_found) {
    return absl::NotFoundError(absl::StrCat("no engine at '", path, "': no such file"));
  }
  if (error) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot look at engine '", path, "': ", error.message()));
  }
  if (!fs::is_regular_file(file)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' is no engine: not a regular file"));
  }
  return absl::OkStatus();
}

std::string LastDlError() {
  const char* const text = dlerror();  // NOLINT(concurrency-mt-unsafe): per thread in glibc
  return text == nullptr ? "unknown error" : text;
}

// The library stays open: engines leave threads, exit handlers and thread-locals behind.
absl::StatusOr<sfl_entry_fn> OpenEntry(const std::string& path) {
  // A path without '/' would make dlopen search the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot load engine '", path, "': ", LastDlError()));
  }
  void* const symbol = dlsym(library, SFL_ENTRY_SYMBOL);
  if (symbol == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' is no engine: it has no symbol ", SFL_ENTRY_SYMBOL));
  }
  return reinterpret_cast<sfl_entry_fn>(symbol);
}

absl::StatusOr<std::unique_ptr<Engine>> CreateEngine(sfl_entry_fn entry,
                                                     const EngineConfig& config) {
  const sfl_engine_vtable* table = nullptr;
  try {
    table = entry(SFL_ABI_VERSION);
  } catch (...) {
    return absl::InternalError(StatusFromCurrentException(SFL_ENTRY_SYMBOL).message());
  }
  return PluginEngine::Create(table, config);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> LoadEngine(const std::string& library_path,
                                                   const EngineConfig& config) {
  if (absl::Status status = CheckFile(library_path); !status.ok()) return status;
  const absl::StatusOr<sfl_entry_fn> entry = OpenEntry(library_path);
  if (!entry.ok()) return entry.status();
  absl::StatusOr<std::unique_ptr<Engine>> engine = CreateEngine(*entry, config);
  if (engine.ok()) return engine;
  return absl::Status(engine.status().code(),
                      absl::StrCat("engine '", library_path, "': ", engine.status().message()));
}

}  // namespace superfluid
