#ifndef SUPERFLUID_TESTS_CONFORMANCE_CONTEXT_H_
#define SUPERFLUID_TESTS_CONFORMANCE_CONTEXT_H_

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "protocol/messages/messages.h"
#include "shm/owned_fd.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/worker.h"

namespace superfluid::conformance {

// What the worker says of itself.
struct Facts {
  linkw::HelloAck ack;  // to an observer
  std::set<std::string> calls;
  uint32_t vocab_size = 0;
  uint64_t context_tokens = 0;

  bool Has(const std::string& call) const { return calls.contains(call); }
};

// Throws Failed if the capabilities are not what HELLO-12 says.
Facts ReadFacts(const linkw::HelloAck& ack);

// Given on the command line.
struct Settings {
  std::string folder;    // below the worker's media and model roots, for files that checks make
  std::string adapter;   // a file that the engine takes as an adapter; empty: any bytes
  std::string media;     // a file that the engine takes as media; empty: any bytes
  std::string strategy;  // the id of a strategy that the engine takes; empty: one that it names
  bool rooted = false;   // `folder` is the worker's media root and its model root
};

// What one run of one check has to work with. Threads: one.
class Context {
 public:
  Context(Worker& worker, const Settings& settings, uint64_t seed, Clock::time_point until);

  Worker& worker() { return worker_; }
  const Settings& settings() const { return settings_; }
  const Facts& facts() const { return facts_; }
  void set_facts(Facts facts) { facts_ = std::move(facts); }
  Clock::time_point until() const { return until_; }

  // A connection to the worker's socket.
  OwnedFd Connect();

  uint64_t Random(uint64_t below) { return rng_() % below; }

  // A file with these bytes in the settings' folder; its path.
  std::string File(std::string_view name, std::string_view bytes);
  // A mono WAV file of `ms` at 16 kHz; noise with pauses, so that a recogniser has something to do.
  std::string SpeechFile(int ms);
  std::string AdapterFile(int number);
  std::string MediaFile();
  std::string StrategyId() const;
  // A file that exists and that a rooted worker must not open; the check is skipped for others.
  std::string OutsideFile();

  // Lets time pass. Nothing is read meanwhile.
  void Pause(absl::Duration time) const;

 private:
  Worker& worker_;
  const Settings& settings_;
  Facts facts_;
  std::mt19937_64 rng_;
  Clock::time_point until_;
  int files_ = 0;
};

// 16-bit mono PCM at 16 kHz.
std::string Pcm(int ms, int amplitude);
// The same as a WAV file.
std::string Wav(std::string_view pcm);

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_CONTEXT_H_
