// Transcription: what is heard.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/families.h"
#include "tests/conformance/speech.h"

namespace superfluid::conformance {
namespace {

constexpr int kMs = 2500;

const std::vector<std::string>& Speech() {
  static const auto* const kCalls = new std::vector<std::string>{"transcribe"};
  return *kCalls;
}

Link::Buffer BufferOf(Link& link, std::string_view bytes) {
  Link::Buffer buffer = link.AttachBuffer(bytes.size());
  std::memcpy(buffer.segment.data(), bytes.data(), bytes.size());
  return buffer;
}

void ExpectWhole(const Heard& heard, int64_t ms, std::string_view what) {
  const int64_t duration = heard.result.duration_ms;
  if (duration < ms - 100 || duration > ms + 100) {
    Fail(absl::StrCat(View(what), ": duration_ms ", duration, " of ", ms));
  }
}

void FromAPath(Context& context) {
  Link link(context);
  const std::string path = context.SpeechFile(kMs);
  ExpectWhole(Hear(link, link.SendCall(PathTranscription(path))), kMs, "a file");
}

void FromPcm(Context& context) {
  Link link(context);
  link.OpenFds();
  const std::string pcm = Pcm(kMs, 6000);
  const Link::Buffer buffer = BufferOf(link, pcm);
  ExpectWhole(Hear(link, link.SendCall(PcmTranscription(buffer.id, pcm.size()))), kMs, "PCM");
}

// The left channel and its inverse: their mean is silence.
void ChannelsThatCancel(Context& context) {
  Link link(context);
  link.OpenFds();
  std::string pcm;
  const std::string mono = Pcm(kMs, 6000);
  for (size_t i = 0; i + 1 < mono.size(); i += 2) {
    int16_t sample = 0;
    std::memcpy(&sample, mono.data() + i, sizeof sample);
    const auto inverse = static_cast<int16_t>(sample == INT16_MIN ? INT16_MAX : -sample);
    pcm.append(mono, i, 2);
    pcm.append(reinterpret_cast<const char*>(&inverse), sizeof inverse);
  }
  const Link::Buffer buffer = BufferOf(link, pcm);
  linkw::Transcribe request = PcmTranscription(buffer.id, pcm.size());
  std::get<linkw::PcmFormat>(std::get<linkw::AudioBuffer>(request.audio).format).channels = 2;
  const Heard heard = Hear(link, link.SendCall(request));
  ExpectWhole(heard, kMs, "channels that cancel each other");
  Expect(!heard.message.empty(), "[STT-17] nothing is said of channels that cancel each other");
}

void FromAnEncodedFile(Context& context) {
  Link link(context);
  link.OpenFds();
  const std::string wav = Wav(Pcm(kMs, 6000));
  const Link::Buffer buffer = BufferOf(link, "junk" + wav);
  linkw::Transcribe request;
  request.stream = true;
  request.audio = linkw::AudioBuffer{
      .buf_id = buffer.id, .offset = 4, .length = wav.size(), .format = linkw::EncodedFile{}};
  ExpectWhole(Hear(link, link.SendCall(request)), kMs, "a file in a buffer");
}

void Live(Context& context) {
  Link link(context);
  link.OpenFds();
  const std::string pcm = Pcm(kMs, 6000);
  const Link::Buffer buffer = BufferOf(link, pcm);
  const uint64_t seq = link.SendCall(LiveTranscription());
  const size_t half = pcm.size() / 4 * 2;
  for (size_t at = 0; at < half;) {
    const size_t size = std::min<size_t>(half - at, 2 * (1 + context.Random(4000)));
    link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = pcm.substr(at, size)});
    at += size;
  }
  link.Send(linkw::TranscribeAudio{
      .request_seq = seq,
      .data = linkw::BufferSpan{.buf_id = buffer.id, .offset = half, .length = pcm.size() - half}});
  link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = "", .end_of_stream = true});
  ExpectWhole(Hear(link, seq), kMs, "live audio");
}

void SameFromEverywhere(Context& context) {
  Link link(context);
  link.OpenFds();
  const std::string pcm = Pcm(kMs, 6000);
  const std::string path = context.File("same.wav", Wav(pcm));
  const Link::Buffer buffer = BufferOf(link, pcm);
  const std::string text = Hear(link, link.SendCall(PathTranscription(path))).result.text;
  ExpectEq(Hear(link, link.SendCall(PcmTranscription(buffer.id, pcm.size()))).result.text, text,
           "the text of the same audio in a buffer");
  const uint64_t seq = link.SendCall(LiveTranscription());
  link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = pcm, .end_of_stream = true});
  ExpectEq(Hear(link, seq).result.text, text, "the text of the same audio, live");
}

void Streamed(Context& context) {
  Link link(context);
  const std::string path = context.SpeechFile(kMs);
  const Heard streamed = Hear(link, link.SendCall(PathTranscription(path)));
  const auto finals =
      std::count_if(streamed.segments.begin(), streamed.segments.end(),
                    [](const linkw::TranscribeSegment& segment) { return !segment.is_partial; });
  ExpectEq(static_cast<size_t>(finals), streamed.result.segments.size(),
           "final segments that were streamed");
  ExpectEq(static_cast<size_t>(finals), streamed.segments.size(), "segments without partial ones");
  linkw::Transcribe quiet = PathTranscription(path);
  quiet.stream = false;
  const Heard at_once = Hear(link, link.SendCall(quiet));
  Expect(at_once.segments.empty(), "segments were streamed although nobody asked");
  ExpectEq(at_once.result.text, streamed.result.text, "the text without streaming");
  linkw::Transcribe partial = PathTranscription(path);
  partial.partial_results = true;
  ExpectEq(Hear(link, link.SendCall(partial)).result.text, streamed.result.text,
           "the text with partial results");
}

void Progress(Context& context) {
  Link link(context);
  linkw::Transcribe request = LiveTranscription();
  request.progress_ms = 200;
  const uint64_t seq = link.SendCall(request);
  for (int i = 0; i < 5; ++i) {
    link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = Pcm(400, 6000)});
  }
  link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = "", .end_of_stream = true});
  const Heard heard = Hear(link, seq);
  int64_t last_ms = 0;
  size_t count = 0;
  for (const Received& received : link.peer().inbox()) {
    const auto* progress = std::get_if<linkw::TranscribeProgress>(&received.message);
    if (progress == nullptr) continue;
    ExpectEq(received.correlation, seq, "correlation of TRANSCRIBE_PROGRESS");
    Expect(progress->audio_ms >= last_ms, "audio_ms went back");
    Expect(progress->audio_ms - last_ms <= 200 + 2000, "audio_ms jumped");
    last_ms = progress->audio_ms;
    ++count;
  }
  Expect(count >= 1, "not one TRANSCRIBE_PROGRESS");
  Expect(last_ms <= heard.result.duration_ms, "progress beyond the audio");
}

void TooMuchWaits(Context& context) {
  Link link(context);
  linkw::Transcribe request = LiveTranscription();
  // The worker reads no faster than this can be sent: a minute at once.
  const uint64_t seq = link.SendCall(request);
  const std::string pcm = Pcm(60'000, 6000);
  link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = pcm, .end_of_stream = true});
  Hear(link, seq, {Status::kOutOfMemory});
  link.Ping();
}

void Silence(Context& context) {
  Link link(context);
  link.OpenFds();
  const std::string pcm(size_t{16000} * 2, '\0');
  const Link::Buffer buffer = BufferOf(link, pcm);
  ExpectEq(Hear(link, link.SendCall(PcmTranscription(buffer.id, pcm.size()))).result.text,
           std::string(), "the text of a second of silence");
}

void NoAudioAtAll(Context& context) {
  Link link(context);
  const uint64_t seq = link.SendCall(LiveTranscription());
  link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = "", .end_of_stream = true});
  const Heard heard = Hear(link, seq, {Status::kOk, Status::kInvalidArgument});
  ExpectEq(heard.result.text, std::string(), "the text of no audio");
}

void SideBySide(Context& context) {
  Link link(context);
  const int count = static_cast<int>(std::min<uint32_t>(8, link.ack().limits.max_transcriptions));
  std::vector<uint64_t> seqs;
  std::vector<std::string> paths;
  for (int i = 0; i < count; ++i) {
    paths.push_back(context.SpeechFile(800 + 300 * i));
    seqs.push_back(link.SendCall(PathTranscription(paths.back())));
  }
  for (int i = 0; i < count; ++i) {
    const Heard heard = Hear(link, seqs[static_cast<size_t>(i)]);
    ExpectWhole(heard, 800 + 300 * i, "one of several");
    const Heard alone = Hear(link, link.SendCall(PathTranscription(paths[static_cast<size_t>(i)])));
    ExpectEq(heard.result.text, alone.result.text, "the text of one of several");
  }
}

void ReleasedRightBehind(Context& context) {
  Link link(context);
  link.OpenFds();
  const std::string pcm = Pcm(kMs, 6000);
  const Link::Buffer buffer = BufferOf(link, pcm);
  linkw::Transcribe request = PcmTranscription(buffer.id, pcm.size());
  request.label = "a \"label\"\nfor the log";
  const uint64_t seq = link.SendCall(request);
  link.Send(linkw::BufRelease{buffer.id});
  const uint64_t late = link.SendCall(PcmTranscription(buffer.id, pcm.size()));
  Hear(link, late, {Status::kUnknownHandle});
  ExpectWhole(Hear(link, seq), kMs, "PCM in a released buffer");
}

// Refusals of a transcription have a TranscribeResult or none.
void Refused(Link& link, const linkw::Transcribe& request, Statuses statuses,
             std::string_view what) {
  link.Refused(request, statuses, what);
}

void WrongPaths(Context& context) {
  Link link(context);
  const std::string folder = context.settings().folder;
  Refused(link, PathTranscription(folder + "/nothing.wav"), {Status::kNotFound}, "no such file");
  Refused(link, PathTranscription(folder), {Status::kInvalidArgument}, "a folder");
  Refused(link, PathTranscription(""), {Status::kInvalidArgument, Status::kNotFound},
          "an empty path");
  Refused(link, PathTranscription(context.File("empty.wav", "")), {Status::kInvalidArgument},
          "an empty file");
  Refused(link, PathTranscription(context.File("noise.wav", std::string(5000, '\x93'))),
          {Status::kInvalidArgument}, "a file that is no audio");
  Refused(link, PathTranscription(context.File("header.wav", Wav("").substr(0, 44))),
          {Status::kInvalidArgument, Status::kOk}, "a header without audio");
}

void PathsOutside(Context& context) {
  Link link(context);
  const std::string outside = context.OutsideFile();
  Refused(link, PathTranscription(outside), {Status::kPermissionDenied}, "a file outside the root");
  Refused(link, PathTranscription(context.settings().folder + "/../../etc/passwd"),
          {Status::kPermissionDenied}, "a path that leads out of the root");
  const std::string symlink =
      absl::StrCat(context.settings().folder, "/", context.Random(1'000'000));
  std::filesystem::create_symlink(outside, symlink);
  Refused(link, PathTranscription(symlink), {Status::kPermissionDenied}, "a link out of the root");
  const std::string inside = context.SpeechFile(kMs);
  const std::string relative = inside.substr(inside.rfind('/') + 1);
  ExpectWhole(Hear(link, link.SendCall(PathTranscription(relative))), kMs,
              "a path relative to the root");
}

void WrongBuffers(Context& context) {
  Link link(context);
  link.OpenFds();
  const Link::Buffer buffer = link.AttachBuffer(1000);
  Refused(link, PcmTranscription(linkw::BufId(987654321), 100), {Status::kUnknownHandle},
          "an unknown buffer");
  for (const auto& [offset, length] :
       std::vector<std::pair<uint64_t, uint64_t>>{{0, 1001},
                                                  {1000, 2},
                                                  {~uint64_t{0}, 2},
                                                  {2, ~uint64_t{0}},
                                                  {~uint64_t{0}, ~uint64_t{0}}}) {
    linkw::Transcribe request = PcmTranscription(buffer.id, length);
    std::get<linkw::AudioBuffer>(request.audio).offset = offset;
    Refused(link, request, {Status::kInvalidArgument}, "a span beyond the buffer");
  }
  linkw::Transcribe encoded;
  encoded.audio =
      linkw::AudioBuffer{.buf_id = buffer.id, .length = 1000, .format = linkw::EncodedFile{}};
  Refused(link, encoded, {Status::kInvalidArgument}, "a file of zeros in a buffer");
}

void WrongFormats(Context& context) {
  Link link(context);
  link.OpenFds();
  const Link::Buffer buffer = link.AttachBuffer(1000);
  struct Case {
    uint32_t rate;
    uint32_t channels;
  };
  for (const Case& c : {Case{0, 1}, Case{16000, 0}, Case{~0u, 1}, Case{16000, ~0u}}) {
    const linkw::PcmFormat format{.sample_rate_hz = c.rate, .channels = c.channels};
    linkw::Transcribe request = PcmTranscription(buffer.id, 1000);
    std::get<linkw::AudioBuffer>(request.audio).format = format;
    Refused(link, request, {Status::kInvalidArgument}, "a format that cannot be, in a buffer");
    request = LiveTranscription();
    std::get<linkw::AudioLive>(request.audio).format = format;
    Refused(link, request, {Status::kInvalidArgument}, "a format that cannot be, live");
  }
}

void WithoutSpeech(Context& context) {
  if (context.facts().Has("transcribe")) Skip("the engine has speech");
  Link link(context);
  Refused(link, LiveTranscription(), {Status::kUnsupported}, "a transcription");
}

}  // namespace

void AddTranscriptionChecks(std::vector<Check>& checks) {
  const auto add = [&checks](const char* ids, const char* title, void (*run)(Context&)) {
    checks.push_back({ids, title, run, Speech(), Pace::kAny, 60});
  };
  add("STT-1 STT-2 STT-3", "a file", FromAPath);
  add("STT-1 STT-2 STT-3", "PCM in a buffer", FromPcm);
  add("STT-17", "channels that cancel each other", ChannelsThatCancel);
  add("STT-1 STT-2 STT-3", "a whole file in a buffer", FromAnEncodedFile);
  add("STT-7 STT-1 STT-2", "live audio, inline and in a buffer", Live);
  add("STT-1", "the same audio from everywhere", SameFromEverywhere);
  add("STT-2", "with and without streaming", Streamed);
  add("STT-15", "progress of live audio", Progress);
  add("STT-16 ALWAYS-4", "a minute of live audio at once", TooMuchWaits);
  add("STT-11", "silence", Silence);
  add("STT-1 STT-7", "a stream without audio", NoAudioAtAll);
  add("STT-12 ALWAYS-1", "several side by side", SideBySide);
  add("STT-13 STT-19 BUF-8", "a buffer that is released right behind", ReleasedRightBehind);
  add("STT-9 ERR-1", "paths that will not do", WrongPaths);
  add("STT-9 ERR-1", "paths out of the media root", PathsOutside);
  add("STT-9 BUF-10 ERR-1", "buffers that will not do", WrongBuffers);
  add("STT-10 ERR-1", "formats that cannot be", WrongFormats);
  checks.push_back(
      {"STT-14 CALL-2", "a transcription for an engine without speech", WithoutSpeech});
}

}  // namespace superfluid::conformance
