#include "engine/llama/library_guard.h"

#include <ggml.h>

#include <cstdio>
#include <mutex>
#include <stdexcept>

namespace superfluid {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local int guards = 0;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local bool assertion_failed = false;

// The library ends the process when this returns. It is C, compiled with unwind tables, so an
// exception passes through it.
void OnAssertion(const char* message) {
  if (guards > 0) {
    assertion_failed = true;
    throw std::runtime_error(message);
  }
  std::fprintf(stderr, "%s\n", message);
}

}  // namespace

LibraryGuard::LibraryGuard() {
  static std::once_flag once;
  std::call_once(once, [] { ggml_set_abort_callback(&OnAssertion); });
  if (guards++ == 0) assertion_failed = false;
}

LibraryGuard::~LibraryGuard() { --guards; }

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): only while one exists
bool LibraryGuard::failed() const { return assertion_failed; }

}  // namespace superfluid
