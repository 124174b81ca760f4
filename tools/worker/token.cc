#include "tools/worker/token.h"

#include <sys/random.h>

#include <cstdlib>
#include <cstring>

#include "protocol/frames/frame.h"

namespace superfluid {

linkw::LinkToken MakeLinkToken() {
  linkw::LinkToken token{};
  uint32_t first_word = 0;
  do {
    if (getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
      std::abort();
    }
    std::memcpy(&first_word, token.data(), sizeof first_word);
  } while (first_word == linkw::kMagic || token == linkw::LinkToken{});
  return token;
}

}  // namespace superfluid
