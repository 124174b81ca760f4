#ifndef SUPERFLUID_TESTS_CONFORMANCE_FAMILIES_H_
#define SUPERFLUID_TESTS_CONFORMANCE_FAMILIES_H_

#include <vector>

#include "tests/conformance/check.h"

// The checks, a file a family; each function appends its own.
namespace superfluid::conformance {

void AddFrameChecks(std::vector<Check>& checks);
void AddFrameRuleChecks(std::vector<Check>& checks);
void AddHandshakeChecks(std::vector<Check>& checks);
void AddRoleChecks(std::vector<Check>& checks);
void AddChannelChecks(std::vector<Check>& checks);
void AddDescriptorChecks(std::vector<Check>& checks);
void AddRingChecks(std::vector<Check>& checks);
void AddControlChecks(std::vector<Check>& checks);
void AddBufferChecks(std::vector<Check>& checks);
void AddTickChecks(std::vector<Check>& checks);
void AddTickRefusalChecks(std::vector<Check>& checks);
void AddLaneChecks(std::vector<Check>& checks);
void AddEmitChecks(std::vector<Check>& checks);
void AddDrawChecks(std::vector<Check>& checks);
void AddSteeringChecks(std::vector<Check>& checks);
void AddSequenceChecks(std::vector<Check>& checks);
void AddStateOpChecks(std::vector<Check>& checks);
void AddOpWindowChecks(std::vector<Check>& checks);
void AddEnvelopeChecks(std::vector<Check>& checks);
void AddCallChecks(std::vector<Check>& checks);
void AddModelChecks(std::vector<Check>& checks);
void AddCacheChecks(std::vector<Check>& checks);
void AddLeaseChecks(std::vector<Check>& checks);
void AddTranscriptionChecks(std::vector<Check>& checks);
void AddTranscriptionEndChecks(std::vector<Check>& checks);
void AddStrategyChecks(std::vector<Check>& checks);
void AddHealthChecks(std::vector<Check>& checks);
void AddDrainChecks(std::vector<Check>& checks);
void AddAlwaysChecks(std::vector<Check>& checks);

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_FAMILIES_H_
