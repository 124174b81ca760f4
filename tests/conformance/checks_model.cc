// Calls about the model: embeddings, adapters, stages, media.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"

namespace superfluid::conformance {
namespace {

void Embeddings(Context& context) {
  Driver driver(context);
  const Tokens tokens = driver.Prompt(9);
  const auto first = driver.Ok<linkw::EmbedResult>(linkw::Embed{tokens}).embedding;
  Expect(!first.empty(), "an embedding without numbers");
  Expect(std::all_of(first.begin(), first.end(), [](float f) { return std::isfinite(f); }),
         "an embedding with a number that is not finite");
  Expect(driver.Ok<linkw::EmbedResult>(linkw::Embed{tokens}).embedding == first,
         "the same tokens have another embedding");
  Expect(driver.Ok<linkw::EmbedResult>(linkw::Embed{driver.Prompt(9)}).embedding != first,
         "other tokens have the same embedding");
}

void WrongEmbeddings(Context& context) {
  Driver driver(context);
  driver.Refused(linkw::Embed{}, {Status::kInvalidArgument}, "an embedding of nothing");
  driver.Refused(linkw::Embed{{driver.facts().vocab_size}}, {Status::kInvalidArgument},
                 "an embedding of a token outside the vocabulary");
  driver.Refused(linkw::Embed{{~Token{0}}}, {Status::kInvalidArgument},
                 "an embedding of token 2^32 - 1");
}

// Ends with no adapter loaded, whatever happens.
class Adapters {
 public:
  explicit Adapters(Driver& driver) : driver_(driver) {}
  ~Adapters() {
    if (!driver_.peer().closed()) driver_.SendCall(linkw::LoraUnload{});
  }
  Adapters(const Adapters&) = delete;
  Adapters& operator=(const Adapters&) = delete;

  linkw::LoraId Load(int number) {
    const std::string path = driver_.context().AdapterFile(number);
    const linkw::StateSyncResult result = driver_.Call(linkw::LoraLoad{path});
    if (result.status == Status::kInvalidArgument && driver_.context().settings().adapter.empty()) {
      Skip("the engine wants an adapter of its own kind (--adapter): " + result.message);
    }
    ExpectEq(result.status, Status::kOk, "LORA_LOAD");
    return std::get<linkw::LoraIdResult>(result.reply).lora_id;
  }
  linkw::LoraId Current() { return driver_.Ok<linkw::LoraIdResult>(linkw::GetLoraId{}).lora_id; }
  linkw::LoraId Unload() { return driver_.Ok<linkw::LoraIdResult>(linkw::LoraUnload{}).lora_id; }

 private:
  Driver& driver_;
};

void AdaptersComeAndGo(Context& context) {
  Driver driver(context);
  Adapters adapters(driver);
  adapters.Unload();
  ExpectEq(adapters.Current(), linkw::LoraId{}, "LORA_ID with no adapter");
  const linkw::LoraId loaded = adapters.Load(0);
  Expect(loaded != linkw::LoraId{}, "the id of a loaded adapter is 0");
  ExpectEq(adapters.Current(), loaded, "LORA_ID");
  ExpectEq(adapters.Unload(), linkw::LoraId{}, "LORA_UNLOAD");
  ExpectEq(adapters.Current(), linkw::LoraId{}, "LORA_ID");
}

void AdaptersChangeTheModel(Context& context) {
  Driver driver(context);
  Adapters adapters(driver);
  adapters.Unload();
  const Tokens prompt = driver.Prompt(12);
  const Tokens plain = driver.Plain(prompt, 24);
  const SequenceId made_without = driver.Start(prompt);
  adapters.Load(0);
  Expect(driver.Plain(prompt, 24) != plain, "an adapter changed nothing");
  driver.ExpectLaneError(driver.DecodeLane(made_without, {}, 1), {Status::kFailedPrecondition},
                         "a sequence made under another adapter");
  adapters.Unload();
  ExpectEq(driver.Plain(prompt, 24), plain, "without the adapter again");
  ExpectEq(driver.Draw(made_without, 24), plain, "the sequence made without it");
}

// A prefill leaves something to compute, whatever is loaded then.
void LateStateHasItsOwnAdapter(Context& context) {
  Driver driver(context);
  Adapters adapters(driver);
  adapters.Load(0);
  const Tokens prompt = driver.Prompt(64);
  const SequenceId sequence = driver.Start(prompt);
  adapters.Unload();
  const Status status =
      driver.Outcome(driver.SendCall(linkw::PublishSequence{sequence, driver.Put(prompt)})).first;
  Expect(status == Status::kOk || status == Status::kFailedPrecondition,
         absl::StrCat("PUBLISH_SEQUENCE under another adapter ends with ", Show(status)));
  // What is cached of the prompt, if anything, and what it gives without.
  adapters.Load(0);
  const Tokens cached = driver.Plain(prompt, 12);
  driver.Call(linkw::Unpublish{driver.Put(prompt)});
  ExpectEq(cached, driver.Plain(prompt, 12), "what is drawn behind the cached prefix");
}

void AdapterOutlivesTheLink(Context& context) {
  linkw::LoraId loaded{};
  {
    Driver driver(context);
    loaded = Adapters(driver).Load(0);
    driver.Ping();
    // The destructor above unloaded it: load it again, and leave.
    loaded =
        std::get<linkw::LoraIdResult>(driver.Call(linkw::LoraLoad{context.AdapterFile(0)}).reply)
            .lora_id;
  }
  Driver driver(context);
  Adapters adapters(driver);
  ExpectEq(adapters.Current(), loaded, "LORA_ID on the next link");
}

void PathsOfAdapters(Context& context) {
  Driver driver(context);
  driver.Refused(linkw::LoraLoad{context.settings().folder + "/nothing"}, {Status::kNotFound},
                 "an adapter that does not exist");
  for (const char* path : {"", "/", "/proc/self/mem/x"}) {
    driver.Refused(linkw::LoraLoad{path},
                   {Status::kNotFound, Status::kPermissionDenied, Status::kInvalidArgument},
                   "a path that is no adapter");
  }
}

void AdaptersOutside(Context& context) {
  Driver driver(context);
  for (const std::string& path :
       {context.OutsideFile(), context.settings().folder + "/../../etc/passwd"}) {
    driver.Refused(linkw::LoraLoad{path}, {Status::kPermissionDenied, Status::kNotFound},
                   "an adapter outside the root");
  }
}

linkw::ForwardStageResult Stage(Driver& driver, const linkw::ForwardStage& stage) {
  return driver.Ok<linkw::ForwardStageResult>(stage);
}

// How many layers there are: the first end that gives a token from the start.
uint32_t Layers(Driver& driver, const Tokens& tokens) {
  for (uint32_t end = 1; end <= 1024; ++end) {
    const auto result = driver.Call(linkw::ForwardStage{.tokens = tokens, .end_layer = end});
    ExpectEq(result.status, Status::kOk, absl::StrCat("layers [0, ", end, ")"));
    if (std::holds_alternative<Token>(std::get<linkw::ForwardStageResult>(result.reply).output)) {
      return end;
    }
  }
  Fail("no stage gives a token");
}

void Stages(Context& context) {
  Driver driver(context);
  const Tokens tokens = driver.Prompt(6);
  const uint32_t layers = Layers(driver, tokens);
  const auto whole = Stage(driver, {.tokens = tokens, .end_layer = layers}).output;
  Expect(std::get<Token>(whole) < driver.facts().vocab_size, "a token outside the vocabulary");
  if (layers < 2) return;
  const uint32_t middle = layers / 2;
  const auto hidden =
      std::get<std::string>(Stage(driver, {.tokens = tokens, .end_layer = middle}).output);
  Expect(!hidden.empty(), "a hidden state without bytes");
  linkw::ForwardStage last{.tokens = tokens, .start_layer = middle, .end_layer = layers};
  last.hidden_in = hidden;
  Expect(Stage(driver, last).output == whole, "two stages give another token than one");
  const Link::Buffer buffer = driver.AttachBuffer(hidden.size() + 100);
  std::memcpy(buffer.segment.data() + 50, hidden.data(), hidden.size());
  last.hidden_in = linkw::BufferSpan{.buf_id = buffer.id, .offset = 50, .length = hidden.size()};
  Expect(Stage(driver, last).output == whole, "a hidden state in a buffer gives another token");
}

void WrongStages(Context& context) {
  Driver driver(context);
  const Tokens tokens = driver.Prompt(6);
  const auto refused = [&driver](const linkw::ForwardStage& stage, Statuses statuses,
                                 std::string_view what) { driver.Refused(stage, statuses, what); };
  refused({.tokens = tokens, .start_layer = 1, .end_layer = 1}, {Status::kInvalidArgument},
          "no layers");
  refused({.tokens = tokens, .start_layer = 2, .end_layer = 1}, {Status::kInvalidArgument},
          "reversed layers");
  refused({.tokens = tokens, .end_layer = ~0u}, {Status::kInvalidArgument}, "layers without end");
  refused({.tokens = tokens, .start_layer = 1, .end_layer = 2, .hidden_in = "short"},
          {Status::kInvalidArgument}, "a hidden state of five bytes");
  refused({.tokens = {~Token{0}}, .end_layer = 1}, {Status::kInvalidArgument},
          "a token outside the vocabulary");
  linkw::ForwardStage stage{.tokens = tokens, .start_layer = 1, .end_layer = 2};
  stage.hidden_in = linkw::BufferSpan{.buf_id = linkw::BufId(987654321), .length = 10};
  refused(stage, {Status::kUnknownHandle}, "an unknown buffer");
  const Link::Buffer buffer = driver.AttachBuffer(100);
  for (const auto& [offset, length] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 101}, {101, 1}, {~uint64_t{0}, 2}, {2, ~uint64_t{0}}}) {
    stage.hidden_in = linkw::BufferSpan{.buf_id = buffer.id, .offset = offset, .length = length};
    refused(stage, {Status::kInvalidArgument}, "a span beyond the buffer");
  }
}

linkw::MediaEncodeResult Encode(Driver& driver) {
  const linkw::StateSyncResult result =
      driver.Call(linkw::MediaEncode{driver.context().MediaFile()});
  if (result.status == Status::kInvalidArgument && driver.context().settings().media.empty()) {
    Skip("the engine wants media of another kind (--media): " + result.message);
  }
  ExpectEq(result.status, Status::kOk, "MEDIA_ENCODE");
  return std::get<linkw::MediaEncodeResult>(result.reply);
}

void MediaIsProbedAndEncoded(Context& context) {
  Driver driver(context);
  const auto encoded = Encode(driver);
  Expect(encoded.media_handle != linkw::MediaHandle{}, "the media handle 0");
  Expect(encoded.info.n_tokens > 0, "media that no token stands for");
  const auto probed = driver.Ok<linkw::MediaProbeResult>(linkw::MediaProbe{context.MediaFile()});
  Expect(probed.info == encoded.info, "MEDIA_PROBE and MEDIA_ENCODE say different things");
}

void MediaIsBoundAndReleased(Context& context) {
  Driver driver(context);
  const auto encoded = Encode(driver);
  Tokens prompt = driver.Prompt(3);
  prompt.insert(prompt.end(), encoded.info.n_tokens, encoded.info.image_token_id);
  Lane lane = driver.DecodeLane(kNew, prompt, 8);
  driver.Ok<linkw::MediaBindResult>(linkw::MediaBind{
      .lane_tag = lane.lane_tag, .media_handle = encoded.media_handle, .token_offset = 3});
  const LaneEvent event = driver.Run(lane);
  ExpectEq(event.position, prompt.size() + 8, "position");
  driver.Ok<linkw::MediaReleaseResult>(linkw::MediaRelease{encoded.media_handle});
  driver.Refused(linkw::MediaRelease{encoded.media_handle}, {Status::kUnknownHandle},
                 "media released twice");
  driver.Refused(linkw::MediaBind{.lane_tag = lane.lane_tag, .media_handle = encoded.media_handle},
                 {Status::kUnknownHandle}, "released media");
}

void PathsOfMedia(Context& context) {
  Driver driver(context);
  driver.Refused(linkw::MediaProbe{context.settings().folder + "/nothing"}, {Status::kNotFound},
                 "media that does not exist");
  driver.Refused(linkw::MediaEncode{context.settings().folder + "/nothing"}, {Status::kNotFound},
                 "media that does not exist");
  for (const char* path : {"", "/"}) {
    driver.Refused(linkw::MediaEncode{path},
                   {Status::kNotFound, Status::kPermissionDenied, Status::kInvalidArgument},
                   "a path that is no media");
  }
}

void MediaOutside(Context& context) {
  Driver driver(context);
  for (const std::string& path :
       {context.OutsideFile(), context.settings().folder + "/../../etc/passwd"}) {
    driver.Refused(linkw::MediaProbe{path}, {Status::kPermissionDenied, Status::kNotFound},
                   "media outside the root");
    driver.Refused(linkw::MediaEncode{path}, {Status::kPermissionDenied, Status::kNotFound},
                   "media outside the root");
  }
}

void FilesThatAreTooLarge(Context& context) {
  Driver driver(context);
  const auto refused = [&](const linkw::StateSyncCall& call, const char* name, const char* what) {
    if (driver.facts().calls.contains(name)) {
      driver.Refused(call, {Status::kInvalidArgument}, what);
    }
  };
  const std::string path = context.File("holes", "");
  Expect(truncate(path.c_str(), (off_t{4} << 30) + 1) == 0, "no file of 4 GiB can be made");
  refused(linkw::LoraLoad{path}, "lora_load", "an adapter of more than 4 GiB");
  Expect(truncate(path.c_str(), (off_t{256} << 20) + 1) == 0, "no file of 256 MiB can be made");
  refused(linkw::MediaProbe{path}, "media_probe", "media of more than 256 MiB");
  refused(linkw::MediaEncode{path}, "media_encode", "media of more than 256 MiB");
}

}  // namespace

void AddModelChecks(std::vector<Check>& checks) {
  const std::vector<std::string> lora = {"lora_load", "lora_unload", "lora_id"};
  const std::vector<std::string> media = {"media_probe", "media_encode", "media_release",
                                          "media_bind", "tick"};
  checks.push_back({"MODEL-1", "embeddings", Embeddings, {"embed"}});
  checks.push_back({"MODEL-2 ERR-1", "embeddings of what cannot be", WrongEmbeddings, {"embed"}});
  checks.push_back({"MODEL-3", "adapters come and go", AdaptersComeAndGo, lora});
  checks.push_back({"MODEL-3 MODEL-5",
                    "an adapter changes the model",
                    AdaptersChangeTheModel,
                    {"lora_load", "lora_unload", "lora_id", "tick"}});
  checks.push_back(
      {"MODEL-8",
       "an adapter is not loaded into what another one computes",
       LateStateHasItsOwnAdapter,
       {"lora_load", "lora_unload", "lora_id", "tick", "publish_sequence", "unpublish"}});
  checks.push_back(
      {"END-2 MODEL-3", "the adapter outlives the link", AdapterOutlivesTheLink, lora});
  checks.push_back({"MODEL-4 ERR-1", "paths of adapters", PathsOfAdapters, lora});
  checks.push_back({"MODEL-4 ERR-1", "adapters outside the root", AdaptersOutside, lora});
  checks.push_back({"MEDIA-3 MODEL-4 ERR-1", "media outside the root", MediaOutside, media});
  checks.push_back({"MODEL-6", "stages", Stages, {"forward_stage"}});
  checks.push_back(
      {"MODEL-7 BUF-10 ERR-1", "stages that will not do", WrongStages, {"forward_stage"}});
  checks.push_back({"MEDIA-1", "media is probed and encoded", MediaIsProbedAndEncoded, media});
  checks.push_back(
      {"MEDIA-2 CALL-4", "media is bound and released", MediaIsBoundAndReleased, media});
  checks.push_back({"MEDIA-3 MODEL-4 ERR-1", "paths of media", PathsOfMedia, media});
  checks.push_back({"MODEL-9", "files that are too large", FilesThatAreTooLarge});
}

}  // namespace superfluid::conformance
