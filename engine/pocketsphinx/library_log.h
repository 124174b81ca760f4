#ifndef SUPERFLUID_ENGINE_POCKETSPHINX_LIBRARY_LOG_H_
#define SUPERFLUID_ENGINE_POCKETSPHINX_LIBRARY_LOG_H_

#include <string>

namespace superfluid {

// Keeps the library's messages off stderr for the rest of the process. Idempotent; threads: any.
void SilencePocketsphinx();

// Collects the errors that the library reports on this thread while the object lives, so that a
// failure can say why. At most one at a time on a thread.
class CapturePocketsphinxErrors {
 public:
  CapturePocketsphinxErrors();
  ~CapturePocketsphinxErrors();
  CapturePocketsphinxErrors(const CapturePocketsphinxErrors&) = delete;
  CapturePocketsphinxErrors& operator=(const CapturePocketsphinxErrors&) = delete;

  // The first error, without the library's file names and line numbers; empty if there was none.
  std::string first() const { return first_; }

 private:
  std::string first_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_POCKETSPHINX_LIBRARY_LOG_H_
