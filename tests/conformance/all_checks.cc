#include "tests/conformance/check.h"
#include "tests/conformance/families.h"

namespace superfluid::conformance {

std::vector<Check> AllChecks() {
  std::vector<Check> checks;
  for (const auto add : {AddFrameChecks,
                         AddFrameRuleChecks,
                         AddHandshakeChecks,
                         AddRoleChecks,
                         AddChannelChecks,
                         AddDescriptorChecks,
                         AddRingChecks,
                         AddControlChecks,
                         AddBufferChecks,
                         AddTickChecks,
                         AddTickRefusalChecks,
                         AddLaneChecks,
                         AddEmitChecks,
                         AddDrawChecks,
                         AddSteeringChecks,
                         AddSequenceChecks,
                         AddStateOpChecks,
                         AddOpWindowChecks,
                         AddEnvelopeChecks,
                         AddCallChecks,
                         AddModelChecks,
                         AddCacheChecks,
                         AddLeaseChecks,
                         AddTranscriptionChecks,
                         AddTranscriptionEndChecks,
                         AddStrategyChecks,
                         AddHealthChecks,
                         AddDrainChecks,
                         AddAlwaysChecks}) {
    add(checks);
  }
  return checks;
}

}  // namespace superfluid::conformance
