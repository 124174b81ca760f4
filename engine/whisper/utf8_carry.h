#ifndef SUPERFLUID_ENGINE_WHISPER_UTF8_CARRY_H_
#define SUPERFLUID_ENGINE_WHISPER_UTF8_CARRY_H_

#include <string>
#include <string_view>

namespace superfluid {

// Makes whole characters of bytes that come in pieces cut anywhere. Bytes that can be no part of a
// character become U+FFFD each.
class Utf8Carry {
 public:
  // The characters that are complete with `bytes`; the rest is kept for the next call.
  std::string Add(std::string_view bytes);

  // Whether there is no such rest.
  bool empty() const { return rest_.empty(); }

 private:
  std::string rest_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_UTF8_CARRY_H_
