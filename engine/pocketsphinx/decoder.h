#ifndef SUPERFLUID_ENGINE_POCKETSPHINX_DECODER_H_
#define SUPERFLUID_ENGINE_POCKETSPHINX_DECODER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/pocketsphinx/cepstral_mean.h"
#include "engine/pocketsphinx/front_end.h"
#include "engine/pocketsphinx/model_files.h"
#include "engine/pocketsphinx/options.h"

struct ps_decoder_s;
struct ps_latlink_s;
struct ps_latnode_s;
struct ps_lattice_s;

namespace superfluid {

// A word on the best path; frames are of 10 ms and count from the utterance's first.
struct DecodedWord {
  std::string text;
  int first_frame = 0;
  int last_frame = 0;  // inclusive
  float probability = 0;

  friend bool operator==(const DecodedWord&, const DecodedWord&) = default;
};

// One decoder of the library: a search over the model, about 90 MB, half a second to load.
//
//            Load          StartUtterance          EndUtterance
//   (none) -------> idle ------------------> open --------------> ended
//                    ^ ^                      |  |                 |  |
//                    | +------- Reset --------+  +-> Search        |  +-> BuildLattice, ...
//                    +--------- Reset / StartUtterance ------------+
//
// After Reset it behaves exactly as after Load and Reset, whatever ran on it before. Calls are
// short: Search 1 ms (10 at most), EndUtterance about 10 ms, each lattice step a few.
//
// Threads: one at a time, not always the same.
class Decoder {
 public:
  // Errors: FailedPrecondition when the library refuses the model, with its reason.
  static absl::StatusOr<std::unique_ptr<Decoder>> Load(const ModelFiles& model,
                                                       const PocketsphinxOptions& options);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // A front end for this model, which must be destroyed before the decoder is given away.
  absl::StatusOr<std::unique_ptr<FrontEnd>> MakeFrontEnd() const;

  // What normalisation starts from; nullopt if the model was trained without.
  std::optional<Cepstrum> cepstral_mean_prior() const;

  // Errors of all of these: Internal when the library fails.
  absl::Status Reset();
  absl::Status StartUtterance();
  absl::Status Search(Cepstrum normalised);
  absl::Status EndUtterance();

  // How many of the latest frames the best path so far takes for silence. Within an utterance.
  int TrailingSilence() const;

  // The words of the best path: while the utterance is open, as far as it has got; once it has
  // ended, those of the search itself, without probabilities.
  std::vector<DecodedWord> SearchedWords() const;

  // The score of the best path, in the library's units: differs when anything did. 0: no path.
  int BestScore() const;

  // After EndUtterance, in this order: the alternatives as a lattice (false if there is none), its
  // best path, the probabilities of its words, and then LatticeWords.
  bool BuildLattice();
  bool FindBestPath();
  void ComputeProbabilities();
  std::vector<DecodedWord> LatticeWords() const;

 private:
  explicit Decoder(ps_decoder_s* decoder);
  void ScoreEverything(bool on);
  double NodeProbability(ps_latnode_s* node) const;

  struct DecoderFree {
    void operator()(ps_decoder_s* decoder) const;
  };

  std::unique_ptr<ps_decoder_s, DecoderFree> decoder_;
  bool open_ = false;
  ps_lattice_s* lattice_ = nullptr;    // the decoder's, valid until the next utterance
  ps_latlink_s* best_link_ = nullptr;  // the last link of the best path
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_POCKETSPHINX_DECODER_H_
