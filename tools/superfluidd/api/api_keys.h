#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_API_KEYS_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_API_KEYS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/superfluidd/http/http_message.h"

namespace superfluid::daemon {

// A key that may use the API, known by its SHA-256 only. Keys are long random texts, so that no
// salt and no slow hash is needed.
struct ApiKey {
  std::string name;    // in logs, and the tenant for fairness
  std::string sha256;  // 64 hexadecimal digits, in lower case
  int priority = 0;    // of its requests
};

// Whose a request is.
struct Caller {
  std::string tenant;
  int priority = 0;
};

// Who may come in. A value; thread-safe once it is made.
class ApiKeys {
 public:
  ApiKeys() = default;
  explicit ApiKeys(std::vector<ApiKey> keys) : keys_(std::move(keys)) {}

  // Whether everybody may.
  bool open() const { return keys_.empty(); }

  // Returns whose the request is; nullopt if it has no key that is known. Without any key
  // configured everybody may come in, and the keys that clients send tell them apart.
  std::optional<Caller> Identify(const RequestHead& head) const;

 private:
  std::vector<ApiKey> keys_;
};

// Returns the key of a request: of "Authorization: Bearer KEY", or of a WebSocket's subprotocol
// "openai-insecure-api-key.KEY". Empty: it has none.
std::string KeyOf(const RequestHead& head);

// Returns the SHA-256 in lower-case hexadecimal digits.
std::string HashKey(std::string_view key);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_API_KEYS_H_
