#include "actors/engine/footprint.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace superfluid {
namespace {

using Kind = WorkKey::Kind;

// Adds a handle's key; 0 names nothing.
template <class Handle>
void AddHandle(std::vector<WorkKey>& keys, Kind kind, Handle handle) {
  if (handle != Handle{}) keys.push_back({kind, static_cast<uint64_t>(handle)});
}

// What a call touches beside the sequence or lane that it names.
template <class Call>
void AddOthers(const Call& /*call*/, Footprint& /*footprint*/) {}
void AddOthers(const linkw::PublishSequence& /*call*/, Footprint& footprint) {
  footprint.keys.push_back(WorkKey::Cache());
}
void AddCacheAndLeases(Footprint& footprint) {
  footprint.keys.push_back(WorkKey::Cache());
  footprint.keys.push_back(WorkKey::Leases());
}
void AddOthers(const linkw::AdoptSequence& /*call*/, Footprint& footprint) {
  AddCacheAndLeases(footprint);
}
void AddOthers(const linkw::Unpublish& /*call*/, Footprint& footprint) {
  AddCacheAndLeases(footprint);
}
void AddOthers(const linkw::CacheEvict& /*call*/, Footprint& footprint) {
  AddCacheAndLeases(footprint);
}
void AddOthers(const linkw::CacheEvictEntries& /*call*/, Footprint& footprint) {
  AddCacheAndLeases(footprint);
}
void AddOthers(const linkw::FreeGrammar& call, Footprint& footprint) {
  AddHandle(footprint.keys, Kind::kGrammar, call.grammar_handle);
}
void AddOthers(const linkw::FreeLogitBias& call, Footprint& footprint) {
  AddHandle(footprint.keys, Kind::kLogitBias, call.handle);
}
void AddOthers(const linkw::MediaRelease& call, Footprint& footprint) {
  AddHandle(footprint.keys, Kind::kMedia, call.media_handle);
}
void AddOthers(const linkw::MediaBind& call, Footprint& footprint) {
  AddHandle(footprint.shared, Kind::kMedia, call.media_handle);
}
// Each sequence is of the adapter that was loaded when it was made.
void AddOthers(const linkw::LoraLoad& /*call*/, Footprint& footprint) { footprint.barrier = true; }
void AddOthers(const linkw::LoraUnload& /*call*/, Footprint& footprint) {
  footprint.barrier = true;
}

template <class Call>
Footprint OfCall(const Call& call) {
  Footprint footprint;
  if constexpr (requires { call.sequence; }) {
    AddHandle(footprint.keys, Kind::kSequence, call.sequence);
  }
  if constexpr (requires { call.parent; }) {
    AddHandle(footprint.keys, Kind::kSequence, call.parent);
  }
  if constexpr (requires { call.lane_tag; }) {
    footprint.keys.push_back({Kind::kLane, static_cast<uint64_t>(call.lane_tag)});  // 0 is a lane
  }
  AddOthers(call, footprint);
  return footprint;
}

Footprint OfTick(const linkw::TickPlan& plan, const EngineLink& link, Footprint footprint) {
  footprint.keys.reserve(2 * plan.lanes.size());
  bool first_input = false;
  for (const linkw::Lane& lane : plan.lanes) {
    footprint.keys.push_back({Kind::kLane, static_cast<uint64_t>(lane.lane_tag)});
    AddHandle(footprint.keys, Kind::kSequence, lane.sequence);
    AddHandle(footprint.shared, Kind::kGrammar, lane.grammar_handle);
    AddHandle(footprint.shared, Kind::kLogitBias, lane.logit_bias_handle);
    first_input = first_input || lane.sequence == linkw::SequenceId{} ||
                  link.MayBeEmpty(static_cast<uint64_t>(lane.sequence));
  }
  if (first_input) {
    footprint.shared.push_back(WorkKey::Cache());
    footprint.shared.push_back(WorkKey::Leases());
  }
  return footprint;
}

Footprint OfMessage(const linkw::StateSyncRequest& request, const EngineLink& /*link*/) {
  return std::visit([](const auto& call) { return OfCall(call); }, request.call);
}
Footprint OfMessage(const linkw::MatchRequest& /*request*/, const EngineLink& /*link*/) {
  return {.keys = {}, .shared = {WorkKey::Cache()}};
}
Footprint OfMessage(const linkw::SeedAcquire& /*request*/, const EngineLink& /*link*/) {
  return {.keys = {WorkKey::Leases()}, .shared = {WorkKey::Cache()}};
}
Footprint OfMessage(const linkw::SeedRelease& /*request*/, const EngineLink& /*link*/) {
  return {.keys = {WorkKey::Leases()}, .shared = {}};
}
// Makes something new; all else that comes here is no work of the engine.
template <class Other>
Footprint OfMessage(const Other& /*message*/, const EngineLink& /*link*/) {
  return {};
}

}  // namespace

std::optional<uint64_t> EmptiedBy(const linkw::DriverMessage& message) {
  const auto* request = std::get_if<linkw::StateSyncRequest>(&message);
  const auto* trim = request == nullptr ? nullptr : std::get_if<linkw::Trim>(&request->call);
  if (trim == nullptr || trim->new_len > 0) return std::nullopt;
  return static_cast<uint64_t>(trim->sequence);
}

Footprint FootprintOf(const linkw::DriverMessage& message, const EngineLink& link,
                      Footprint spare) {
  if (const auto* tick = std::get_if<linkw::TickSubmit>(&message)) {
    return OfTick(tick->plan, link, std::move(spare));
  }
  return std::visit([&link](const auto& content) { return OfMessage(content, link); }, message);
}

}  // namespace superfluid
