#include "tests/conformance/context.h"

#include <poll.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tests/conformance/check.h"
#include "tests/conformance/connect.h"
#include "tests/conformance/show.h"

namespace superfluid::conformance {
namespace {

constexpr int kRate = 16'000;

template <class T>
void Put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Facts ReadFacts(const linkw::HelloAck& ack) {
  Facts facts{.ack = ack};
  const nlohmann::json json = nlohmann::json::parse(ack.capabilities_json, nullptr, false);
  Expect(json.is_object(), "[HELLO-12] the capabilities are no JSON object");
  const auto calls = json.find("calls");
  Expect(calls != json.end() && calls->is_array(), "[HELLO-12] no \"calls\" in the capabilities");
  for (const nlohmann::json& call : *calls) {
    Expect(call.is_string(), "[HELLO-12] \"calls\" has something that is no string");
    facts.calls.insert(call.get<std::string>());
  }
  if (const auto it = json.find("vocab_size"); it != json.end() && it->is_number_unsigned()) {
    facts.vocab_size = it->get<uint32_t>();
  }
  if (const auto it = json.find("context_tokens"); it != json.end() && it->is_number_unsigned()) {
    facts.context_tokens = it->get<uint64_t>();
  }
  return facts;
}

Context::Context(Worker& worker, const Settings& settings, uint64_t seed, Clock::time_point until)
    : worker_(worker), settings_(settings), rng_(seed), until_(until) {}

OwnedFd Context::Connect() {
  OwnedFd fd = ConnectUnix(worker_.socket());
  Expect(fd.valid(), absl::StrCat("nothing listens on ", worker_.socket()));
  return fd;
}

std::string Context::File(std::string_view name, std::string_view bytes) {
  std::string path =
      absl::StrCat(settings_.folder, "/", ++files_, "-", Random(1'000'000), "-", View(name));
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  Expect(file.good(), absl::StrCat("cannot write ", path));
  return path;
}

std::string Context::SpeechFile(int ms) { return File("speech.wav", Wav(Pcm(ms, 6000))); }

std::string Context::AdapterFile(int number) {
  if (!settings_.adapter.empty() && number == 0) return settings_.adapter;
  return File("adapter.bin", absl::StrCat("conformance adapter ", number));
}

std::string Context::MediaFile() {
  if (!settings_.media.empty()) return settings_.media;
  return File("media.ppm", "P6\n4 4\n255\n" + std::string(48, '\x40'));
}

std::string Context::StrategyId() const {
  const auto& named = facts_.ack.registered_strategies;
  if (!settings_.strategy.empty()) return settings_.strategy;
  return named.empty() ? "ngram" : named[0].strategy_id;
}

std::string Context::OutsideFile() {
  if (!settings_.rooted) Skip("the worker's roots are not the suite's folder (--rooted)");
  return "/etc/passwd";
}

void Context::Pause(absl::Duration time) const {
  const auto until = Clock::now() + absl::ToChronoNanoseconds(time);
  Expect(until < until_, "the time is up");
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return;
    poll(nullptr, 0, static_cast<int>(left));
  }
}

std::string Pcm(int ms, int amplitude) {
  std::string bytes;
  std::minstd_rand noise(1);
  const int samples = kRate / 1000 * ms;
  for (int i = 0; i < samples; ++i) {
    const bool pause = i / (kRate / 4) % 4 == 3;
    const auto value = static_cast<double>(noise() % 2001) / 1000 - 1;
    const double tone = std::sin(i * 0.09) * (1 + std::sin(i * 0.0021));
    Put(bytes, static_cast<int16_t>(pause ? 0 : amplitude * (tone + value / 4) / 2.5));
  }
  return bytes;
}

std::string Wav(std::string_view pcm) {
  std::string bytes = "RIFF";
  const auto size = static_cast<uint32_t>(pcm.size());
  Put(bytes, size + 36);
  bytes += "WAVEfmt ";
  Put(bytes, uint32_t{16});
  Put(bytes, uint16_t{1});
  Put(bytes, uint16_t{1});
  Put(bytes, uint32_t{kRate});
  Put(bytes, uint32_t{kRate * 2});
  Put(bytes, uint16_t{2});
  Put(bytes, uint16_t{16});
  bytes += "data";
  Put(bytes, size);
  return bytes.append(pcm);
}

}  // namespace superfluid::conformance
