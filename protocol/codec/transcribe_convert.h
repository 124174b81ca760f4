#ifndef SUPERFLUID_PROTOCOL_CODEC_TRANSCRIBE_CONVERT_H_
#define SUPERFLUID_PROTOCOL_CODEC_TRANSCRIBE_CONVERT_H_

#include "absl/status/statusor.h"
#include "protocol/linkw.pb.h"
#include "protocol/messages/transcribe_messages.h"

namespace superfluid::linkw {

v8::Transcribe ToProto(const Transcribe& call);
// kInvalidArgument: no audio.
absl::StatusOr<Transcribe> FromProto(v8::Transcribe&& proto);

v8::TranscriptWord ToProto(const TranscriptWord& word);
TranscriptWord FromProto(v8::TranscriptWord&& proto);

v8::TranscriptSegment ToProto(const TranscriptSegment& segment);
TranscriptSegment FromProto(v8::TranscriptSegment&& proto);

v8::TranscribeResult ToProto(const TranscribeResult& result);
TranscribeResult FromProto(v8::TranscribeResult&& proto);

v8::TranscribeSegment ToProto(const TranscribeSegment& message);
TranscribeSegment FromProto(v8::TranscribeSegment&& proto);

v8::TranscribeProgress ToProto(const TranscribeProgress& message);
TranscribeProgress FromProto(v8::TranscribeProgress&& proto);

v8::TranscribeCancel ToProto(const TranscribeCancel& message);
TranscribeCancel FromProto(v8::TranscribeCancel&& proto);

v8::TranscribeAudio ToProto(const TranscribeAudio& message);
TranscribeAudio FromProto(v8::TranscribeAudio&& proto);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_TRANSCRIBE_CONVERT_H_
