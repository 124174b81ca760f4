#include "protocol/codec/transcribe_convert.h"

#include <string>
#include <utility>
#include <variant>

#include "protocol/codec/convert_common.h"

namespace superfluid::linkw {
namespace {

constexpr size_t kMaxWordBytes = 4096;
constexpr size_t kMaxSegmentBytes = 65536;
constexpr size_t kMaxTranscriptBytes = 67108864;
constexpr size_t kMaxLanguageBytes = 64;

v8::PcmFormat WritePcm(const PcmFormat& format) {
  v8::PcmFormat proto;
  proto.set_sample_rate_hz(format.sample_rate_hz);
  proto.set_channels(format.channels);
  proto.set_sample_format(static_cast<v8::SampleFormat>(format.sample_format));
  return proto;
}

PcmFormat ReadPcm(const v8::PcmFormat& proto) {
  return {proto.sample_rate_hz(), proto.channels(),
          static_cast<SampleFormat>(proto.sample_format())};
}

// Puts the audio into its member of the oneof.
struct AudioWriter {
  v8::Transcribe& proto;

  void operator()(const AudioPath& audio) const { proto.set_path(audio.path); }

  void operator()(const AudioBuffer& audio) const {
    v8::AudioBuffer& out = *proto.mutable_buffer();
    *out.mutable_span() = ToProto(BufferSpan{audio.buf_id, audio.offset, audio.length});
    if (const auto* pcm = std::get_if<PcmFormat>(&audio.format))
      *out.mutable_pcm() = WritePcm(*pcm);
  }

  void operator()(const AudioLive& audio) const { *proto.mutable_live() = WritePcm(audio.format); }
};

AudioBuffer ReadBuffer(const v8::AudioBuffer& proto) {
  AudioBuffer audio{BufId{proto.span().buf_id()}, proto.span().offset(), proto.span().length(), {}};
  if (proto.has_pcm()) audio.format = ReadPcm(proto.pcm());
  return audio;
}

absl::StatusOr<AudioSourceSpec> ReadAudio(v8::Transcribe& proto) {
  switch (proto.audio_case()) {
    case v8::Transcribe::kPath:
      return AudioPath{std::move(*proto.mutable_path())};
    case v8::Transcribe::kBuffer:
      return ReadBuffer(proto.buffer());
    case v8::Transcribe::kLive:
      return AudioLive{ReadPcm(proto.live())};
    case v8::Transcribe::AUDIO_NOT_SET:
      break;
  }
  return MakeStatus(Status::kInvalidArgument, "StateSyncReq.transcribe.audio: missing");
}

void Write(const TranscribeStats& stats, v8::TranscribeStats& proto) {
  proto.set_engine_steps(stats.engine_steps);
  proto.set_engine_us(stats.engine_us);
  proto.set_queue_us(stats.queue_us);
  proto.set_cancel_to_stop_us(stats.cancel_to_stop_us);
  proto.set_steps_after_cancel(stats.steps_after_cancel);
  proto.set_audio_total_ms(stats.audio_total_ms);
}

TranscribeStats Read(const v8::TranscribeStats& proto) {
  return {proto.engine_steps(),      proto.engine_us(),          proto.queue_us(),
          proto.cancel_to_stop_us(), proto.steps_after_cancel(), proto.audio_total_ms()};
}

}  // namespace

v8::Transcribe ToProto(const Transcribe& call) {
  v8::Transcribe proto;
  std::visit(AudioWriter{proto}, call.audio);
  proto.set_language(call.language);
  proto.set_translate(call.translate);
  proto.set_timestamps(call.timestamps);
  proto.set_prompt(call.prompt);
  proto.set_stream(call.stream);
  proto.set_partial_results(call.partial_results);
  proto.set_deadline_ms(call.deadline_ms);
  proto.set_control_slot(call.control_slot);
  proto.set_progress_ms(call.progress_ms);
  proto.set_label(call.label);
  return proto;
}

absl::StatusOr<Transcribe> FromProto(v8::Transcribe&& proto) {
  absl::StatusOr<AudioSourceSpec> audio = ReadAudio(proto);
  if (!audio.ok()) return audio.status();
  Transcribe call;
  call.audio = *std::move(audio);
  call.language = std::move(*proto.mutable_language());
  call.translate = proto.translate();
  call.timestamps = proto.timestamps();
  call.prompt = std::move(*proto.mutable_prompt());
  call.stream = proto.stream();
  call.partial_results = proto.partial_results();
  call.deadline_ms = proto.deadline_ms();
  call.control_slot = proto.control_slot();
  call.progress_ms = proto.progress_ms();
  call.label = std::move(*proto.mutable_label());
  return call;
}

v8::TranscriptWord ToProto(const TranscriptWord& word) {
  v8::TranscriptWord proto;
  proto.set_start_ms(word.start_ms);
  proto.set_end_ms(word.end_ms);
  proto.set_text(ToUtf8(word.text, kMaxWordBytes));
  proto.set_probability(word.probability);
  return proto;
}

TranscriptWord FromProto(v8::TranscriptWord&& proto) {
  return {proto.start_ms(), proto.end_ms(), std::move(*proto.mutable_text()), proto.probability()};
}

v8::TranscriptSegment ToProto(const TranscriptSegment& segment) {
  v8::TranscriptSegment proto;
  proto.set_start_ms(segment.start_ms);
  proto.set_end_ms(segment.end_ms);
  proto.set_text(ToUtf8(segment.text, kMaxSegmentBytes));
  proto.set_avg_logprob(segment.avg_logprob);
  proto.set_no_speech_prob(segment.no_speech_prob);
  proto.set_compression_ratio(segment.compression_ratio);
  proto.set_temperature(segment.temperature);
  AddEach(segment.words, proto.mutable_words());
  return proto;
}

TranscriptSegment FromProto(v8::TranscriptSegment&& proto) {
  TranscriptSegment segment;
  segment.start_ms = proto.start_ms();
  segment.end_ms = proto.end_ms();
  segment.text = std::move(*proto.mutable_text());
  segment.avg_logprob = proto.avg_logprob();
  segment.no_speech_prob = proto.no_speech_prob();
  segment.compression_ratio = proto.compression_ratio();
  segment.temperature = proto.temperature();
  segment.words = ConvertEach<TranscriptWord>(*proto.mutable_words(), FromProto);
  return segment;
}

v8::TranscribeResult ToProto(const TranscribeResult& result) {
  v8::TranscribeResult proto;
  proto.set_text(ToUtf8(result.text, kMaxTranscriptBytes));
  proto.set_language(ToUtf8(result.language, kMaxLanguageBytes));
  proto.set_duration_ms(result.duration_ms);
  AddEach(result.segments, proto.mutable_segments());
  Write(result.stats, *proto.mutable_stats());
  return proto;
}

TranscribeResult FromProto(v8::TranscribeResult&& proto) {
  return {std::move(*proto.mutable_text()), std::move(*proto.mutable_language()),
          proto.duration_ms(), ConvertEach<TranscriptSegment>(*proto.mutable_segments(), FromProto),
          Read(proto.stats())};
}

v8::TranscribeSegment ToProto(const TranscribeSegment& message) {
  v8::TranscribeSegment proto;
  *proto.mutable_segment() = ToProto(static_cast<const TranscriptSegment&>(message));
  proto.set_index(message.index);
  proto.set_is_partial(message.is_partial);
  proto.set_audio_ms(message.audio_ms);
  proto.set_audio_total_ms(message.audio_total_ms);
  return proto;
}

TranscribeSegment FromProto(v8::TranscribeSegment&& proto) {
  return {FromProto(std::move(*proto.mutable_segment())), proto.index(), proto.is_partial(),
          proto.audio_ms(), proto.audio_total_ms()};
}

v8::TranscribeProgress ToProto(const TranscribeProgress& message) {
  v8::TranscribeProgress proto;
  proto.set_audio_ms(message.audio_ms);
  return proto;
}

TranscribeProgress FromProto(v8::TranscribeProgress&& proto) { return {proto.audio_ms()}; }

v8::TranscribeCancel ToProto(const TranscribeCancel& message) {
  v8::TranscribeCancel proto;
  proto.set_request_seq(message.request_seq);
  return proto;
}

TranscribeCancel FromProto(v8::TranscribeCancel&& proto) { return {proto.request_seq()}; }

v8::TranscribeAudio ToProto(const TranscribeAudio& message) {
  v8::TranscribeAudio proto;
  proto.set_request_seq(message.request_seq);
  if (const auto* span = std::get_if<BufferSpan>(&message.data)) {
    *proto.mutable_buffer() = ToProto(*span);
  } else {
    proto.set_pcm(std::get<std::string>(message.data));
  }
  proto.set_end_of_stream(message.end_of_stream);
  return proto;
}

TranscribeAudio FromProto(v8::TranscribeAudio&& proto) {
  TranscribeAudio message;
  message.request_seq = proto.request_seq();
  if (proto.has_buffer()) {
    message.data = FromProto(std::move(*proto.mutable_buffer()));
  } else {
    message.data = std::move(*proto.mutable_pcm());
  }
  message.end_of_stream = proto.end_of_stream();
  return message;
}

}  // namespace superfluid::linkw
