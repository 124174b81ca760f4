#ifndef SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIBE_OPTIONS_H_
#define SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIBE_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "protocol/messages/messages.h"
#include "tools/ctl/formats/transcript_format.h"

namespace superfluid::ctl {

enum class TranscriptKind { kHuman, kJson, kJsonLines, kSrt, kVtt };

// Where the audio comes from, for the worker.
enum class AudioRoute {
  kPath,    // it opens the file
  kInline,  // the file's bytes, in shared memory
  kLive,    // PCM as it comes
};

// The options of `transcribe` as they were given.
struct TranscribeOptions {
  std::string file;  // "-": standard input
  bool json = false;
  bool srt = false;
  bool vtt = false;
  bool stream = false;
  bool no_stream = false;
  bool partials = false;
  bool no_timestamps = false;
  bool words = false;
  bool translate = false;
  std::string language;
  std::string prompt;
  uint32_t deadline_ms = 0;
  std::optional<uint32_t> cancel_after_ms;
  bool send_inline = false;
  bool live = false;
  // Of live audio, as a multiple of real time; 0: as fast as the worker takes it.
  std::optional<double> speed;
  bool raw = false;
  bool decode = false;
  std::optional<uint32_t> rate_hz;
  std::optional<uint32_t> channels;
  std::string output;
  bool quiet = false;
};

// Adds the options to `app`; `options` must outlive it.
void AddTranscribeOptions(CLI::App& app, TranscribeOptions& options);

// What the parser cannot see: options that make no sense together. InvalidArgument, for people.
absl::Status CheckTranscribeOptions(const TranscribeOptions& options);

TranscriptKind KindOf(const TranscribeOptions& options);
AudioRoute RouteOf(const TranscribeOptions& options);

// As it is meant if it is not given: a live file as if it were spoken, while standard input and a
// decoder set the pace themselves.
double SpeedOf(const TranscribeOptions& options);

// What raw PCM is said to be.
linkw::PcmFormat RawFormat(const TranscribeOptions& options);

// The file's absolute path: the worker runs in another folder. Symbolic links stay.
std::string PathForWorker(const std::string& file);

// The request for `audio`.
linkw::Transcribe MakeRequest(const TranscribeOptions& options, linkw::AudioSourceSpec audio);

std::unique_ptr<TranscriptFormat> MakeFormat(const TranscribeOptions& options);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIBE_OPTIONS_H_
