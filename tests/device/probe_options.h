#ifndef SUPERFLUID_TESTS_DEVICE_PROBE_OPTIONS_H_
#define SUPERFLUID_TESTS_DEVICE_PROBE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <variant>

namespace superfluid::device {

struct ProbeOptions {
  std::string worker;     // command line of the worker on the device, without --listen
  std::string reference;  // of one on the CPU with the same model; empty: nothing is compared
  std::string backend;    // of the library, that the worker must say it has; empty: any
  float tolerance = 0.05F;
  int prompts = 16;
  bool measure = false;
  uint32_t prefill_tokens = 2048;
  uint32_t lanes = 16;
  int cancels = 40;
  uint64_t seed = 1;
};

// Says all there is to say; leave with this code.
struct Leave {
  int code = 0;
  std::string out;
  std::string err;
};

std::variant<ProbeOptions, Leave> ParseProbeOptions(int argc, const char* const* argv);

}  // namespace superfluid::device

#endif  // SUPERFLUID_TESTS_DEVICE_PROBE_OPTIONS_H_
