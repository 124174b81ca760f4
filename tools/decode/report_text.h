#ifndef SUPERFLUID_TOOLS_DECODE_REPORT_TEXT_H_
#define SUPERFLUID_TOOLS_DECODE_REPORT_TEXT_H_

#include "absl/status/statusor.h"
#include "tools/decode/decode_message.h"
#include "tools/decode/decode_summary.h"

namespace superfluid::decode {

// What a report says, made safe: it comes from a process that may lie. Texts are cut at the first
// byte that is not printable ASCII. Errors: InvalidArgument, ResourceExhausted, Internal, as
// DecodeProcess::Finish says. Pure.
absl::StatusOr<DecodeSummary> SummaryOf(const DecodeReport& report);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_REPORT_TEXT_H_
