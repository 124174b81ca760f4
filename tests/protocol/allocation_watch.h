#ifndef SUPERFLUID_TESTS_PROTOCOL_ALLOCATION_WATCH_H_
#define SUPERFLUID_TESTS_PROTOCOL_ALLOCATION_WATCH_H_

#include <cstddef>

namespace superfluid {

// Counts the bytes that operator new has given out in this process and not got back, and how often
// it did. Linking this
// unit replaces the global operators. The peak is one for the process: one watch at a time.
class AllocationWatch {
 public:
  AllocationWatch();

  // The most bytes that were live at once since construction, beyond those live then.
  size_t Peak() const;

  // How many times memory was given out since construction.
  size_t Count() const;

  static size_t Live();

 private:
  size_t base_;
  size_t base_count_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_PROTOCOL_ALLOCATION_WATCH_H_
