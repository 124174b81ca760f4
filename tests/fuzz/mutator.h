#ifndef SUPERFLUID_TESTS_FUZZ_MUTATOR_H_
#define SUPERFLUID_TESTS_FUZZ_MUTATOR_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace superfluid::fuzz {

// Makes damaged inputs of whole ones. The same seed makes the same.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // A few random changes: bits, bytes, a cut, a repeated or a foreign stretch.
  std::string Mutate(std::string bytes, const std::vector<std::string>& others) {
    for (size_t changes = 1 + Below(4); changes > 0; --changes) Change(bytes, others);
    return bytes;
  }

 private:
  size_t Below(size_t below) { return below == 0 ? 0 : random_() % below; }

  void Change(std::string& bytes, const std::vector<std::string>& others) {
    const size_t at = Below(bytes.size() + 1);
    switch (Below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8)));
        break;
      case 1:
        bytes.insert(at, 1, static_cast<char>(Below(256)));
        break;
      case 2:
        bytes.erase(at, Below(8));
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.insert(at, bytes.substr(Below(bytes.size()), Below(64)));
        break;
      case 5:  // a number that is nearly none, or far too large
        for (size_t i = at; i < bytes.size() && i < at + 4; ++i) bytes[i] = flip_;
        flip_ = static_cast<char>(~flip_);
        break;
      default: {
        const std::string& other = others[Below(others.size())];
        bytes.insert(at, other.substr(Below(other.size()), Below(64)));
      }
    }
  }

  std::mt19937_64 random_;
  char flip_ = 0;
};

}  // namespace superfluid::fuzz

#endif  // SUPERFLUID_TESTS_FUZZ_MUTATOR_H_
