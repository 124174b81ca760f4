#ifndef SUPERFLUID_ENGINE_ABI_ENGINE_THREAD_H_
#define SUPERFLUID_ENGINE_ABI_ENGINE_THREAD_H_

#include <thread>

namespace superfluid {

// Remembers the thread that made it, and ends the process if another one gets where only that one
// may be: accelerator libraries keep state per thread, and a wrong answer is worse than none.
class EngineThread {
 public:
  EngineThread() : thread_(std::this_thread::get_id()) {}

  // `call` names what was called, for the report on stderr.
  void Check(const char* call) const {
    if (std::this_thread::get_id() != thread_) Die(call);
  }

 private:
  [[noreturn]] static void Die(const char* call);

  const std::thread::id thread_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_ENGINE_THREAD_H_
