#ifndef SUPERFLUID_ENGINE_LOADER_SHA256_H_
#define SUPERFLUID_ENGINE_LOADER_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"

namespace superfluid {

// SHA-256 over bytes that come in pieces. Threads: one at a time.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();

  void Add(absl::string_view bytes);
  // Ends the hash; nothing may be added after.
  std::array<uint8_t, 32> Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LOADER_SHA256_H_
