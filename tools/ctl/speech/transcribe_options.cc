#include "tools/ctl/speech/transcribe_options.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "tools/ctl/base/time_option.h"
#include "tools/ctl/formats/human_format.h"
#include "tools/ctl/formats/json_format.h"
#include "tools/ctl/formats/srt_format.h"
#include "tools/ctl/formats/vtt_format.h"

namespace superfluid::ctl {
namespace {

constexpr uint32_t kProgressMs = 1000;

constexpr char kAudioGroup[] = "Audio";
constexpr char kSpeechGroup[] = "Speech";
constexpr char kOutputGroup[] = "Output";
constexpr char kControlGroup[] = "Control";

constexpr char kFooter[] =
    "Examples:\n"
    "  superfluidctl transcribe talk.flac\n"
    "  superfluidctl transcribe talk.flac --srt --output talk.srt\n"
    "  superfluidctl transcribe talk.flac --json | jq -r .text\n"
    "  superfluidctl transcribe talk.flac --json --stream   # a JSON object a line, as they come\n"
    "  superfluidctl transcribe talk.flac --inline          # where the worker cannot read the "
    "file\n"
    "  superfluidctl transcribe talk.mp4                    # decoded here, as it is sent\n"
    "  superfluidctl transcribe talk.wav --live             # as if it were spoken now\n"
    "  arecord -f S16_LE -r 16000 -t raw | superfluidctl transcribe - --live --partials\n"
    "\n"
    "Ctrl-C cancels: the worker stops, its answer says what it had by then, and how long it took "
    "to\n"
    "stop is printed. Ctrl-C once more does not wait for the answer.\n";

void AddAudioOptions(CLI::App& app, TranscribeOptions& options) {
  app.add_option("FILE", options.file,
                 "A recording; - for standard input, of which WAV and raw PCM are live audio "
                 "(--inline: a recording). Of a pipe, a device, /dev/stdin or <(...) the bytes are "
                 "read here to their end and sent")
      ->required()
      ->group(kAudioGroup);
  CLI::Option* send_inline = app.add_flag("--inline", options.send_inline,
                                          "Send the file's bytes in shared memory, not its path")
                                 ->group(kAudioGroup);
  CLI::Option* live = app.add_flag("--live", options.live,
                                   "Send PCM as it comes: a WAV file in real time, or WAV or raw "
                                   "s16 from standard input")
                          ->excludes(send_inline)
                          ->group(kAudioGroup);
  app.add_option(
         "--speed", options.speed,
         "With --live: times real time, 1 for a file; 0, for standard input: as fast as the "
         "worker takes it")
      ->check(CLI::Range(0.0, 1000.0))
      ->needs(live)
      ->group(kAudioGroup);
  CLI::Option* raw =
      app.add_flag("--raw", options.raw, "FILE is raw s16 PCM, sent as it is")->group(kAudioGroup);
  app.add_flag("--decode", options.decode,
               "Decode FILE here, with libav, whatever it is (without: if it is of a kind that the "
               "worker does not read, such as mp4, webm, aac, amr, wma)")
      ->excludes(raw)
      ->group(kAudioGroup);
  app.add_option("--rate", options.rate_hz, "Sample rate of raw PCM, in Hz")
      ->check(WholeNumber(100, 768000))
      ->default_str("16000")
      ->group(kAudioGroup);
  app.add_option("--channels", options.channels, "Channels of raw PCM")
      ->check(WholeNumber(1, 32))
      ->default_str("1")
      ->group(kAudioGroup);
}

void AddSpeechOptions(CLI::App& app, TranscribeOptions& options) {
  app.add_option("--language", options.language,
                 "Language spoken, such as en; auto, or none: the engine detects or assumes it")
      ->check(NotEmpty())
      ->group(kSpeechGroup);
  app.add_flag("--translate", options.translate, "Translate to English")->group(kSpeechGroup);
  app.add_option("--prompt", options.prompt, "Text that comes before, to guide the engine")
      ->group(kSpeechGroup);
}

void AddOutputOptions(CLI::App& app, TranscribeOptions& options) {
  CLI::Option* json = app.add_flag("--json", options.json, "JSON, with everything there is");
  CLI::Option* srt = app.add_flag("--srt", options.srt, "SubRip subtitles")->excludes(json);
  CLI::Option* vtt =
      app.add_flag("--vtt", options.vtt, "WebVTT subtitles")->excludes(json)->excludes(srt);
  CLI::Option* stream =
      app.add_flag("--stream", options.stream,
                   "As it is decoded; with --json an object a line (else the default)");
  CLI::Option* no_stream =
      app.add_flag("--no-stream", options.no_stream, "All at the end (with --json the default)")
          ->excludes(stream);
  CLI::Option* partials =
      app.add_flag("--partials", options.partials, "Also segments that may still change")
          ->excludes(no_stream);
  CLI::Option* words =
      app.add_flag("--words", options.words, "The words of each segment, with their times");
  CLI::Option* no_timestamps =
      app.add_flag("--no-timestamps", options.no_timestamps, "Text without times")->excludes(words);
  CLI::Option* output =
      app.add_option("--output", options.output,
                     "Write to this file when it is done; - is standard output. A "
                     "pipe, a device, or what is open already (/dev/stdout, > "
                     "FILE) is written as the text comes")
          ->check(NotEmpty());
  CLI::Option* quiet = app.add_flag("--quiet", options.quiet, "No progress bar");
  for (CLI::Option* option :
       {json, srt, vtt, stream, no_stream, partials, words, no_timestamps, output, quiet}) {
    option->group(kOutputGroup);
  }
}

void AddControlOptions(CLI::App& app, TranscribeOptions& options) {
  AddMsOption(app, "--deadline", "The worker ends it after this time", {.min = 1},
              [&options](uint32_t ms) { options.deadline_ms = ms; })
      ->group(kControlGroup);
  AddMsOption(app, "--cancel-after", "Cancel after this time, as Ctrl-C", {.min = 0},
              [&options](uint32_t ms) { options.cancel_after_ms = ms; })
      ->group(kControlGroup);
}

// Whether --rate and --channels mean something.
bool MayBeRaw(const TranscribeOptions& options) {
  return options.raw || (options.file == "-" && !options.send_inline);
}

bool Streams(const TranscribeOptions& options) {
  if (options.json) return options.stream;
  return !options.no_stream;
}

}  // namespace

void AddTranscribeOptions(CLI::App& app, TranscribeOptions& options) {
  AddAudioOptions(app, options);
  AddSpeechOptions(app, options);
  AddOutputOptions(app, options);
  AddControlOptions(app, options);
  app.footer(kFooter);
}

absl::Status CheckTranscribeOptions(const TranscribeOptions& options) {
  const bool subtitles = options.srt || options.vtt;
  if (options.file.empty()) return absl::InvalidArgumentError("FILE is empty");
  if ((options.rate_hz.has_value() || options.channels.has_value()) && !MayBeRaw(options)) {
    return absl::InvalidArgumentError(
        "--rate and --channels say what raw PCM is: they need --raw, or standard input as it "
        "comes");
  }
  if (subtitles && options.no_timestamps) {
    return absl::InvalidArgumentError("subtitles need times: --no-timestamps makes none");
  }
  if (options.srt && options.words) {
    return absl::InvalidArgumentError("--srt cannot mark words; --vtt and --json can");
  }
  if (options.json && options.partials && !options.stream) {
    return absl::InvalidArgumentError("with --json, --partials needs --stream");
  }
  if (subtitles && options.partials) {
    return absl::InvalidArgumentError("subtitles cannot change: --partials makes no sense there");
  }
  return absl::OkStatus();
}

TranscriptKind KindOf(const TranscribeOptions& options) {
  if (options.json) return options.stream ? TranscriptKind::kJsonLines : TranscriptKind::kJson;
  if (options.srt) return TranscriptKind::kSrt;
  if (options.vtt) return TranscriptKind::kVtt;
  return TranscriptKind::kHuman;
}

AudioRoute RouteOf(const TranscribeOptions& options) {
  if (options.live) return AudioRoute::kLive;
  if (options.send_inline || options.raw) return AudioRoute::kInline;
  return options.file == "-" ? AudioRoute::kLive : AudioRoute::kPath;
}

double SpeedOf(const TranscribeOptions& options) {
  if (!options.live) return 0;
  return options.speed.value_or(options.file == "-" ? 0 : 1);
}

linkw::PcmFormat RawFormat(const TranscribeOptions& options) {
  return {.sample_rate_hz = options.rate_hz.value_or(16000),
          .channels = options.channels.value_or(1),
          .sample_format = linkw::SampleFormat::kS16};
}

std::string PathForWorker(const std::string& file) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(file, error);
  return error ? file : path.string();
}

linkw::Transcribe MakeRequest(const TranscribeOptions& options, linkw::AudioSourceSpec audio) {
  linkw::Transcribe request;
  // So that the worker is not sent more than it has room for: see LiveFeeder.
  if (std::holds_alternative<linkw::AudioLive>(audio)) request.progress_ms = kProgressMs;
  request.audio = std::move(audio);
  if (!absl::EqualsIgnoreCase(options.language, "auto")) request.language = options.language;
  request.translate = options.translate;
  request.timestamps = !options.no_timestamps;
  request.prompt = options.prompt;
  request.stream = Streams(options);
  request.partial_results = options.partials;
  request.deadline_ms = options.deadline_ms;
  return request;
}

std::unique_ptr<TranscriptFormat> MakeFormat(const TranscribeOptions& options) {
  switch (KindOf(options)) {
    case TranscriptKind::kJson:
      return std::make_unique<JsonFormat>();
    case TranscriptKind::kJsonLines:
      return std::make_unique<JsonLinesFormat>();
    case TranscriptKind::kSrt:
      return std::make_unique<SrtFormat>();
    case TranscriptKind::kVtt:
      return std::make_unique<VttFormat>(options.words);
    case TranscriptKind::kHuman:
      break;
  }
  return std::make_unique<HumanFormat>(
      HumanFormat::Options{.timestamps = !options.no_timestamps, .words = options.words});
}

}  // namespace superfluid::ctl
