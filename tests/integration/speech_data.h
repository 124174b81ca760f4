#ifndef SUPERFLUID_TESTS_INTEGRATION_SPEECH_DATA_H_
#define SUPERFLUID_TESTS_INTEGRATION_SPEECH_DATA_H_

#include <string>
#include <vector>

namespace superfluid {

// A recording of the distribution's package pocketsphinx-testdata and what is said in it.
struct Recording {
  std::string path;
  std::string transcript;  // lower case, words separated by single spaces
};

// The five files of LibriVox speech, about a minute together.
std::vector<Recording> LibrivoxRecordings();

// Writes the recordings, one after the other with a second of silence in between, as one wav file
// in `folder`. Returns its path.
std::string JoinRecordings(const std::vector<Recording>& recordings, const std::string& folder);

// Words that must be substituted, inserted or deleted to turn `hypothesis` into `reference`
// (Levenshtein distance over words), and the reference's number of words.
struct WordErrors {
  size_t errors = 0;
  size_t words = 0;
};
WordErrors CountWordErrors(const std::string& reference, const std::string& hypothesis);

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_INTEGRATION_SPEECH_DATA_H_
