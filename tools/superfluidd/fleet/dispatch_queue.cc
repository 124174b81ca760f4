#include "tools/superfluidd/fleet/dispatch_queue.h"

#include <algorithm>
#include <utility>

namespace superfluid::daemon {
namespace {

constexpr double kLeastCost = 1;          // a request is never free
constexpr size_t kMaxIdleTenants = 1024;  // remembered

bool IsOfTenant(const WaitingRequest& request, const std::string& tenant) {
  return request.tenant == tenant;
}

}  // namespace

bool DispatchQueue::Add(WaitingRequest request) {
  if (full()) return false;
  const auto of_tenant =
      static_cast<size_t>(std::count_if(waiting_.begin(), waiting_.end(), [&](const Entry& e) {
        return IsOfTenant(e.request, request.tenant);
      }));
  if (of_tenant >= limits_.waiting_of_tenant) return false;
  waiting_.push_back({.request = std::move(request)});
  return true;
}

void DispatchQueue::AddAgain(WaitingRequest request) {
  waiting_.push_front({.request = std::move(request), .overtaken = 0, .again = true});
}

bool DispatchQueue::Remove(RequestNumber number) {
  return waiting_.remove_if([&](const Entry& e) { return e.request.number == number; }) > 0;
}

std::optional<WaitingRequest> DispatchQueue::TakeNext(
    const std::function<bool(const std::string& model)>& can_serve) {
  auto next = waiting_.end();
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (!can_serve(it->request.model)) continue;
    if (next == waiting_.end() || GoesBefore(*it, *next)) next = it;
  }
  if (next == waiting_.end()) return std::nullopt;
  for (auto it = waiting_.begin(); it != next; ++it) {
    const bool rival = IsOfTenant(it->request, next->request.tenant) &&
                       it->request.priority == next->request.priority &&
                       it->request.model == next->request.model;
    if (rival) ++it->overtaken;
  }
  Charge(*next);
  WaitingRequest taken = std::move(next->request);
  waiting_.erase(next);
  return taken;
}

std::vector<RequestNumber> DispatchQueue::TakeExpired(int64_t now_ns) {
  std::vector<RequestNumber> expired;
  for (const Entry& entry : waiting_) {
    const int64_t deadline_ns = entry.request.deadline_ns;
    if (deadline_ns != 0 && deadline_ns <= now_ns) expired.push_back(entry.request.number);
  }
  for (const RequestNumber number : expired) Remove(number);
  return expired;
}

double DispatchQueue::waiting_cost() const {
  double cost = 0;
  for (const Entry& entry : waiting_) cost += entry.request.cost;
  return cost;
}

double DispatchQueue::ChargeOf(const std::string& tenant) const {
  const auto found = charges_.find(tenant);
  return found == charges_.end() ? floor_ : std::max(floor_, found->second);
}

bool DispatchQueue::GoesBefore(const Entry& a, const Entry& b) const {
  if (a.again != b.again) return a.again;
  if (a.request.priority != b.request.priority) return a.request.priority > b.request.priority;
  const double charge_a = ChargeOf(a.request.tenant);
  const double charge_b = ChargeOf(b.request.tenant);
  if (charge_a != charge_b) return charge_a < charge_b;
  const bool starved_a = a.overtaken >= kMaxOvertaken;
  const bool starved_b = b.overtaken >= kMaxOvertaken;
  if (starved_a != starved_b) return starved_a;
  if (a.request.deadline_ns != b.request.deadline_ns) {
    if (a.request.deadline_ns == 0) return false;
    return b.request.deadline_ns == 0 || a.request.deadline_ns < b.request.deadline_ns;
  }
  return a.request.cost < b.request.cost;
}

// The floor follows the least charged of those who wait: who comes back starts there.
void DispatchQueue::Charge(const Entry& taken) {
  if (taken.again) return;
  const double before = ChargeOf(taken.request.tenant);
  floor_ = std::max(floor_, before);
  charges_[taken.request.tenant] = before + std::max(taken.request.cost, kLeastCost);
  if (charges_.size() > kMaxIdleTenants) ForgetIdleTenants();
}

void DispatchQueue::ForgetIdleTenants() {
  std::erase_if(charges_, [&](const auto& charge) { return charge.second <= floor_; });
}

}  // namespace superfluid::daemon
