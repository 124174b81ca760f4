#ifndef SUPERFLUID_ENGINE_LLAMA_LIBRARY_GUARD_H_
#define SUPERFLUID_ENGINE_LLAMA_LIBRARY_GUARD_H_

namespace superfluid {

// While one exists, an assertion of the library that fails on this thread is thrown as a
// std::runtime_error with the library's message, instead of ending the process. What the library
// was working on is lost: it must not be used again, nor freed. One that fails on another thread
// ends the process, as it does without.
//
// For files that come from outside: the library checks the shapes of their tensors by assertions.
class LibraryGuard {
 public:
  LibraryGuard();
  LibraryGuard(const LibraryGuard&) = delete;
  LibraryGuard& operator=(const LibraryGuard&) = delete;
  ~LibraryGuard();

  // Whether one has failed; the library catches exceptions in places, and reports an error then.
  bool failed() const;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LIBRARY_GUARD_H_
