#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_TRANSCRIPT_JSON_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_TRANSCRIPT_JSON_H_

#include "protocol/messages/messages.h"
#include "tools/ctl/formats/json_text.h"
#include "tools/ctl/formats/transcript_format.h"

// A transcription as JSON. Field names are those of linkw.proto, times are in ms unless a name says
// otherwise.
namespace superfluid::ctl {

Json SegmentJson(const linkw::TranscriptSegment& segment);

// file, status, message, text, language, duration_ms, segments[], stats{} (the worker's figures),
// client{} (ours).
Json OutcomeJson(const TranscriptionOutcome& outcome);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_TRANSCRIPT_JSON_H_
