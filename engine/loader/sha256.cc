#include "engine/loader/sha256.h"

#include <openssl/evp.h>

#include <cstdio>
#include <cstdlib>

namespace superfluid {
namespace {

// OpenSSL fails here only if it has no SHA-256 or no memory.
void Require(bool success) {
  if (success) return;
  std::fputs("fatal: the system's OpenSSL cannot compute SHA-256\n", stderr);
  std::abort();
}

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* evp = nullptr;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  context_->evp = EVP_MD_CTX_new();
  Require(context_->evp != nullptr);
  Require(EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() { EVP_MD_CTX_free(context_->evp); }

void Sha256::Add(absl::string_view bytes) {
  Require(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1);
}

std::array<uint8_t, 32> Sha256::Finish() {
  std::array<uint8_t, 32> digest = {};
  Require(EVP_DigestFinal_ex(context_->evp, digest.data(), nullptr) == 1);
  return digest;
}

}  // namespace superfluid
