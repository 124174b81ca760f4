#ifndef SUPERFLUID_TESTS_DEVICE_PROBE_WORKER_H_
#define SUPERFLUID_TESTS_DEVICE_PROBE_WORKER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "protocol/driver/driver_rings.h"
#include "protocol/messages/messages.h"
#include "tests/conformance/worker.h"
#include "tests/stress/soak_link.h"
#include "tests/stress/tally.h"

namespace superfluid::device {

using Tokens = std::vector<linkw::Token>;

// A worker process of our own and a driver's link to it. Threads: one.
class ProbeWorker {
 public:
  // Starts it, with its log and socket in `folder` under `name`. Throws conformance::Failed if it
  // does not start, or has no ticks.
  ProbeWorker(const std::string& command, const std::string& folder, const std::string& name);
  ~ProbeWorker();
  ProbeWorker(const ProbeWorker&) = delete;
  ProbeWorker& operator=(const ProbeWorker&) = delete;

  const conformance::Facts& facts() const { return link_->facts(); }
  const std::string& log() const { return log_; }

  // Fails if the worker's engine draws no tokens, which is what everything below is about.
  void NeedTicks() const;
  Tokens RandomTokens(std::mt19937_64& random, size_t count) const;

  // ---- All of these throw conformance::Failed if the worker does anything unexpected

  // What a new sequence with this prompt draws, the most likely token each time; the sequence is
  // freed.
  Tokens Draw(const Tokens& prompt, uint32_t count);
  // The most likely tokens behind a prompt, with their logits.
  std::vector<linkw::TokenLogit> Logits(const Tokens& prompt);

  // The tick of these lanes; `input` of lane i is inputs[i], which may be empty.
  linkw::TickResult Tick(std::vector<linkw::Lane> lanes, const std::vector<Tokens>& inputs,
                         uint64_t deadline_us = 0);
  // The same, and every lane must be OK.
  std::vector<linkw::LaneEvent> RunLanes(std::vector<linkw::Lane> lanes,
                                         const std::vector<Tokens>& inputs);
  void Free(linkw::SequenceId sequence);

 private:
  std::string log_;
  stress::Tally tally_;
  conformance::Process process_;
  std::unique_ptr<stress::SoakLink> link_;
  uint64_t last_tick_ = 0;
};

}  // namespace superfluid::device

#endif  // SUPERFLUID_TESTS_DEVICE_PROBE_WORKER_H_
