#include "tests/integration/speech_data.h"

#include <sndfile.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

namespace superfluid {
namespace {

constexpr char kFolder[] = "/usr/share/pocketsphinx/test/data/librivox/";

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// A line is "<s> some words </s> (name)".
std::map<std::string, std::string> Transcripts() {
  std::map<std::string, std::string> transcripts;
  std::ifstream file(std::string(kFolder) + "transcription");
  for (std::string line; std::getline(file, line);) {
    const size_t open = line.rfind('(');
    const size_t close = line.rfind(')');
    if (open == std::string::npos || close == std::string::npos) continue;
    std::string text;
    for (const std::string& word : Words(line.substr(0, open))) {
      if (word != "<s>" && word != "</s>") text += (text.empty() ? "" : " ") + word;
    }
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    transcripts[line.substr(open + 1, close - open - 1)] = text;
  }
  return transcripts;
}

}  // namespace

std::vector<Recording> LibrivoxRecordings() {
  const std::map<std::string, std::string> transcripts = Transcripts();
  std::vector<Recording> recordings;
  std::ifstream ids(std::string(kFolder) + "fileids");
  for (std::string id; ids >> id;) {
    const auto it = transcripts.find(id);
    if (it != transcripts.end()) recordings.push_back({kFolder + id + ".wav", it->second});
  }
  return recordings;
}

std::string JoinRecordings(const std::vector<Recording>& recordings, const std::string& folder) {
  std::string path = folder + "/joined.wav";
  SF_INFO info{};
  info.samplerate = 16000;
  info.channels = 1;
  info.format = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
  SNDFILE* joined = sf_open(path.c_str(), SFM_WRITE, &info);
  for (const Recording& recording : recordings) {
    SF_INFO read_info{};
    SNDFILE* file = sf_open(recording.path.c_str(), SFM_READ, &read_info);
    std::vector<int16_t> samples(static_cast<size_t>(read_info.frames) + 16000);
    sf_readf_short(file, samples.data(), read_info.frames);
    sf_close(file);
    sf_writef_short(joined, samples.data(), static_cast<sf_count_t>(samples.size()));
  }
  sf_close(joined);
  return path;
}

WordErrors CountWordErrors(const std::string& reference, const std::string& hypothesis) {
  const std::vector<std::string> wanted = Words(reference);
  const std::vector<std::string> got = Words(hypothesis);
  std::vector<size_t> row(got.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= wanted.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= got.size(); ++j) {
      const size_t substitution = diagonal + (wanted[i - 1] == got[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return {.errors = row.back(), .words = wanted.size()};
}

}  // namespace superfluid
