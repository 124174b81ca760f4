#include "tools/superfluidd/api/api_keys.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace superfluid::daemon {
namespace {

constexpr absl::string_view kBearer = "bearer ";
constexpr absl::string_view kProtocolKey = "openai-insecure-api-key.";
constexpr size_t kShownDigits = 12;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::string HashKey(std::string_view key) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest = {};
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string KeyOf(const RequestHead& head) {
  const absl::string_view authorization = View(head.Header("authorization"));
  if (absl::StartsWithIgnoreCase(authorization, kBearer)) {
    return std::string(absl::StripAsciiWhitespace(authorization.substr(kBearer.size())));
  }
  const std::string_view protocols = head.Header("sec-websocket-protocol");
  for (absl::string_view protocol : absl::StrSplit(View(protocols), ',')) {
    protocol = absl::StripAsciiWhitespace(protocol);
    if (absl::ConsumePrefix(&protocol, kProtocolKey)) return std::string(protocol);
  }
  return "";
}

// All keys are compared, each in constant time.
std::optional<Caller> ApiKeys::Identify(const RequestHead& head) const {
  const std::string key = KeyOf(head);
  const std::string hash = HashKey(key);
  if (keys_.empty()) {
    return Caller{.tenant = key.empty() ? "anonymous" : "key-" + hash.substr(0, kShownDigits)};
  }
  std::optional<Caller> caller;
  for (const ApiKey& known : keys_) {
    const bool same = known.sha256.size() == hash.size() &&
                      CRYPTO_memcmp(known.sha256.data(), hash.data(), hash.size()) == 0;
    if (same) caller = Caller{.tenant = known.name, .priority = known.priority};
  }
  return key.empty() ? std::nullopt : caller;
}

}  // namespace superfluid::daemon
