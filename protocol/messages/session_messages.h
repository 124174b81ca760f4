#ifndef SUPERFLUID_PROTOCOL_MESSAGES_SESSION_MESSAGES_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_SESSION_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/ids.h"
#include "protocol/messages/memory_messages.h"
#include "protocol/messages/status.h"
#include "protocol/messages/version.h"

// The messages of the link itself: handshake, errors, health, drain. Plain values, no invariants;
// linkw.proto says what each field means on the wire.
namespace superfluid::linkw {

enum class Role : uint8_t {
  kDriver = 1,    // drives the worker; one link at a time
  kObserver = 2,  // may Ping, ask for Capabilities and get Telemetry
};

struct Hello {
  VersionRange proto_versions;
  std::string client_name;  // for logs
  Role role = Role::kDriver;
  std::vector<std::string> features;  // wanted; unknown ones are ignored
  bool operator==(const Hello&) const = default;
};

struct StateSpaceDescriptor {
  SpaceId space_id{};
  std::string name;              // "kv"
  uint64_t bytes_per_token = 0;  // 0: the state does not grow by token
  uint32_t boundary_tokens = 1;  // snapshots are at multiples of this
  uint64_t encodings = 1;        // bit n: encoding n can be exported
  Hash compat_key{};             // equal keys: state can move between the workers
  bool operator==(const StateSpaceDescriptor&) const = default;
};

struct RegisteredStrategy {
  StrategySlot strategy_slot{};
  std::string strategy_id;
  std::string impl_version;
  bool operator==(const RegisteredStrategy&) const = default;
};

struct Limits {
  uint32_t max_frame = 0;  // payload bytes
  uint32_t op_window = 0;  // state ops open at once
  std::vector<RingSpec> ring_specs;
  uint32_t max_lanes = 0;
  uint32_t max_transcriptions = 0;  // open at once; more are answered BUSY
  bool operator==(const Limits&) const = default;
};

struct HelloAck {
  uint16_t chosen_version = kProtoVersion;
  Hash engine_bundle_hash{};      // SHA-256 over engine library, model and options
  std::string capabilities_json;  // a JSON object
  std::vector<StateSpaceDescriptor> state_space_descriptors;
  std::vector<RegisteredStrategy> registered_strategies;
  Limits limits;
  uint32_t kv_bits = 0;
  LinkToken link_token{};  // all zero: there is no fds connection to open
  bool operator==(const HelloAck&) const = default;
};

struct Error {
  Status status = Status::kInternal;  // never kOk
  std::string message;                // for people: what is wrong
  std::string detail;                 // where: byte offset, type, seq
  bool fatal = false;                 // the link closes after this frame
  bool operator==(const Error&) const = default;
};

struct MemCounters {
  uint64_t allocated_bytes = 0;
  uint64_t host_retained_bytes = 0;
  uint64_t pool_blocks_total = 0;
  uint64_t pool_blocks_used = 0;
  uint64_t pool_bytes_evictable = 0;
  uint64_t tentative_bytes = 0;
  bool operator==(const MemCounters&) const = default;
};

enum class EngineState : uint8_t {
  kIdle = 1,
  kBusy = 2,
  kStalled = 3,
  kFailed = 4,
  kDraining = 5,
  kLoading = 6
};

struct Ping {
  bool operator==(const Ping&) const = default;
};

struct Pong {
  uint32_t queue_depth = 0;  // requests accepted and not yet with the engine
  uint32_t open_ops = 0;
  uint32_t open_transcriptions = 0;
  MemCounters mem;
  uint64_t engine_busy_us = 0;  // time spent inside steps since the start
  EngineState engine_state = EngineState::kIdle;
  uint64_t engine_steps = 0;   // micro-steps finished since the start
  uint64_t step_age_us = 0;    // how long the current step runs; 0: none runs
  uint64_t uptime_ms = 0;      // since the worker's start
  uint32_t load_permille = 0;  // while kLoading: how much is loaded, as far as the engine says
  uint32_t observers = 0;      // open links without the driver's
  uint32_t driver_pid = 0;     // of the driver's process as the worker sees it; 0: none, or unknown
  uint64_t driver_ms = 0;      // since the driver got its role; 0: there is none
  bool operator==(const Pong&) const = default;
};

struct DrainRequest {
  bool cancel_transcriptions = false;  // else they are finished
  uint32_t deadline_ms = 0;            // then what is still open is cancelled; 0: no deadline
  bool shut_down = false;              // of all links, then the worker ends; observers may ask
  bool operator==(const DrainRequest&) const = default;
};

struct Drained {
  uint32_t finished = 0;   // requests that ended by themselves during the drain
  uint32_t cancelled = 0;  // requests that the drain cancelled
  bool operator==(const Drained&) const = default;
};

struct TelemetryCounter {
  std::string name;
  uint64_t value = 0;
  bool operator==(const TelemetryCounter&) const = default;
};

struct Telemetry {
  std::vector<TelemetryCounter> counters;
  bool operator==(const Telemetry&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_SESSION_MESSAGES_H_
